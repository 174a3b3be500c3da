"""The endpoint under test, as a plan names it."""

import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from loadgen.plan_parts import Part

VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Prices(Part):
    """What the endpoint costs, in US dollars for a million tokens."""

    usd_per_m_input: Annotated[float, Field(ge=0)] = 0
    usd_per_m_output: Annotated[float, Field(ge=0)] = 0


class Target(Part):
    """The endpoint under test.  `sim://PROFILE` starts the built-in simulator for the run."""

    url: str
    model: Annotated[str, Field(min_length=1)]
    api: str = "openai_chat"
    api_key_env: str | None = None  # the NAME of an environment variable, never a key
    verify_tls: bool = True
    ca_file: str | None = None  # PEM of the authorities to trust instead of the system's
    http: Literal["auto", "1.1", "2"] = "auto"
    tokenizer: str | None = None  # tokenizer.json, its folder, or a hub name
    prices: Prices | None = None

    @field_validator("url")
    @classmethod
    def _known_scheme(cls, url: str) -> str:
        try:
            parts, _ = urlsplit(url), urlsplit(url).port
        except ValueError as error:
            raise ValueError(f"is {url!r}: {error}") from None
        if re.search(r"\s", url):
            raise ValueError(f"is {url!r}; a URL holds no blanks")
        if parts.scheme not in ("http", "https", "sim") or not parts.hostname:
            raise ValueError(
                f"is {url!r}; expected http://HOST[:PORT][/v1], https://… or sim://PROFILE"
            )
        if parts.username or parts.password:
            raise ValueError("holds a user name or password; name an environment variable instead")
        return url

    @field_validator("api")
    @classmethod
    def _known_api(cls, api: str) -> str:
        from loadgen.wire.registry import APIS  # the APIs themselves know PlannedRequest

        if api not in APIS:
            raise ValueError(f"is {api!r}; expected one of {', '.join(APIS)}")
        return api

    @field_validator("ca_file", "tokenizer")
    @classmethod
    def _void_is_none(cls, name: str | None) -> str | None:
        return name or None  # a form's empty field; as a path it would be this folder

    @field_validator("api_key_env")
    @classmethod
    def _a_name_not_a_key(cls, name: str | None) -> str | None:
        if name and not VARIABLE_NAME.fullmatch(name):
            raise ValueError(
                "is not a variable name; put the key into an environment variable and name that"
            )
        return name or None
