"""Which API an endpoint speaks, where nobody said: by its URL's path, else by what it lists."""

import http.client
import json
import os
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from loadgen.transport.endpoint import Endpoint, endpoint_of
from loadgen.wire.registry import APIS

AUTO = "auto"
USUAL = "openai_chat"
LIST_WITHIN_S = 5
MOST_BYTES = 4 * 1024 * 1024
HOSTS = {"api.anthropic.com": "anthropic_messages"}

Target = dict[str, Any]
"""Fields of loadgen.plan.Target; only `url` must be there."""


@dataclass(frozen=True, slots=True)
class Guess:
    """An API and why it was taken; model: the first one listed, None if none was."""

    api: str
    why: str
    model: str | None = None


def api_of_url(url: str) -> str | None:
    """The API whose path the URL ends in, or that is all its host speaks; None: it does not tell.

    The longest path wins: /v1/completions ends in no other's path, /api/chat might.
    """
    try:
        parts = urlsplit(url)
    except ValueError:  # the plan says what is wrong with it
        return None
    path = parts.path.rstrip("/")
    found = [
        (len(tail), name)
        for name, api in APIS.items()
        for tail in (api.path, api.whole_path)
        if path.endswith(tail)
    ]
    longest = max(found, default=None, key=lambda one: one[0])
    return longest[1] if longest else HOSTS.get(parts.hostname or "")


def guess(target: Target) -> Guess:
    """The API of `target`: three small GETs at most, none where the URL's path tells it."""
    if api := api_of_url(target["url"]):
        return Guess(api, "its URL tells", first_model(target))
    for path, api, read, why in _LISTS:
        document = _get(target, path)
        if document is _UNREACHABLE:
            break  # the request itself will say it in words
        if (model := _read(read, document)) is not None:
            return Guess(api, why, model)
    return Guess(USUAL, "nothing tells another, and most servers speak it")


def first_model(target: Target) -> str | None:
    """The first model the server lists under /v1/models; None if it lists none."""
    return _read(_LISTS[0][2], _get(target, _LISTS[0][0]))


_LISTS: tuple[tuple[str, str, Callable[[Any], Any], str], ...] = (
    ("/v1/models", USUAL, lambda d: d["data"][0]["id"], "GET /v1/models lists models"),
    ("/api/tags", "ollama_chat", lambda d: d["models"][0]["name"], "GET /api/tags lists models"),
    ("/info", "tgi", lambda d: d["model_id"], "GET /info names a model, as TGI's does"),
)
"""Path, the API it stands for, where its answer names a model, why that API is taken."""

_UNREACHABLE = object()


def _read(read: Callable[[Any], Any], document: Any) -> str | None:
    try:
        return str(read(document))
    except (LookupError, TypeError):
        return None


def _get(target: Target, path: str) -> Any:
    """The JSON at the server's `path`; None if it is none, _UNREACHABLE if nobody answers."""
    try:
        found = fetch(target, path)
        return _UNREACHABLE if found is None else json.loads(found[1])
    except (ValueError, RecursionError):
        return None


def fetch(target: Target, path: str) -> tuple[int, bytes] | None:
    """Status and body (its first MOST_BYTES) of a GET on the target's server; None: no answer.

    Raises ValueError for a URL or a key that cannot be sent.
    """
    try:
        where, path = _place(target["url"], path)
        connection = _connection(where, target)
        try:
            connection.request("GET", path, headers=_headers(target))
            answer = connection.getresponse()
            return answer.status, answer.read(MOST_BYTES)
        finally:
            connection.close()
    except (OSError, http.client.HTTPException):
        return None


def _place(url: str, path: str) -> tuple[Endpoint, str]:
    """Where `path` lies beside the API's own path, if the URL ends in one."""
    own = urlsplit(url)
    for api in APIS.values():
        for tail in (api.path, api.whole_path):
            if own.path.rstrip("/").endswith(tail):
                root = own.path.rstrip("/").removesuffix(tail)
                return endpoint_of(own._replace(path=root, query="").geturl(), path)
    root = own.path if path.startswith("/v1/") else own.path.rstrip("/").removesuffix("/v1")
    return endpoint_of(own._replace(path=root, query="").geturl(), path)


def _headers(target: Target) -> dict[str, str]:
    key = os.environ.get(target.get("api_key_env") or "")
    api = APIS.get(target.get("api") or "") or APIS[USUAL]
    return {"Accept": "application/json", **api.headers(key)} if key else {}


def _connection(where: Endpoint, target: Target) -> http.client.HTTPConnection:
    if where.scheme == "http":
        return http.client.HTTPConnection(where.host, where.port, timeout=LIST_WITHIN_S)
    context = ssl.create_default_context(cafile=target.get("ca_file") or None)
    if target.get("verify_tls") is False:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return http.client.HTTPSConnection(
        where.host, where.port, timeout=LIST_WITHIN_S, context=context
    )
