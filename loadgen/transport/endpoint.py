"""Where an endpoint is: from the URL a user types to a host, a port and the path of an API."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urlsplit

from loadgen.transport.proxy import Proxy, proxy_for

HttpVersion = Literal["1.1", "2"]
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One server.  path_prefix: what stands before `/v1/…`, mostly empty, never ends in `/`.

    ca_file: the only authorities trusted, in PEM; None: the system's.  http "2" without TLS means
    that the server speaks it from the first byte ("prior knowledge").
    """

    scheme: str
    host: str  # without brackets, also for IPv6
    port: int
    path_prefix: str = ""
    verify_tls: bool = True
    ca_file: str | None = None
    http: HttpVersion = "1.1"
    proxy: Proxy | None = None

    @property
    def name(self) -> str:
        """`host:port` as sentences show it."""
        return f"{self._bracketed}:{self.port}"

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        default = DEFAULT_PORTS[self.scheme] == self.port
        return self._bracketed if default else self.name

    @property
    def is_insecure(self) -> bool:
        """Whether TLS is used without looking who answers: every report must say so."""
        return self.scheme == "https" and not self.verify_tls

    @property
    def next_hop(self) -> tuple[str, int]:
        """Host and port that the connection goes to: the proxy's, if there is one."""
        return (self.proxy.host, self.proxy.port) if self.proxy else (self.host, self.port)

    @property
    def is_tunnelled(self) -> bool:
        """Whether the proxy is asked to CONNECT; it reads plain HTTP/1.1 requests itself."""
        return self.proxy is not None and (self.scheme == "https" or self.http == "2")

    @property
    def _bracketed(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host

    def without_verification(self) -> "Endpoint":
        """The same endpoint, its certificate taken as it is."""
        return replace(self, verify_tls=False)

    def trusting(self, ca_file: str | None) -> "Endpoint":
        """The same endpoint, its certificate signed by an authority in this file."""
        return replace(self, ca_file=ca_file)

    def speaking(self, http: HttpVersion) -> "Endpoint":
        """The same endpoint over this version of HTTP."""
        return replace(self, http=http)

    def through_proxy(self, environment: Mapping[str, str]) -> "Endpoint":
        """The same endpoint through the proxy that the environment names, if any for this host.

        Raises ValueError with a sentence when a variable names none that can be used.
        """
        return replace(self, proxy=proxy_for(self.scheme, self.host, self.port, environment))


def endpoint_of(url: str, api_path: str) -> tuple[Endpoint, str]:
    """The endpoint and the request path for an API such as `/v1/chat/completions`.

    The root and …/v1 both work; a URL that already ends in the API's path is used as it is, and
    so is its query (`?api-version=…`).  Raises ValueError with a sentence.
    """
    parts = urlsplit(url)
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
        raise ValueError(f"{url!r} is no endpoint; expected http://HOST[:PORT][/v1] or https://…")
    try:
        port = parts.port or DEFAULT_PORTS[parts.scheme]
    except ValueError:
        raise ValueError(f"{url!r} has a port that is no number from 1 to 65535.") from None
    prefix, path = _paths(parts.path.rstrip("/"), api_path)
    endpoint = Endpoint(parts.scheme, parts.hostname, port, prefix)
    return endpoint, f"{path}?{parts.query}" if parts.query else path


def _paths(given: str, api_path: str) -> tuple[str, str]:
    """The prefix and the full path; `version` is the API path's own first part, as in /v1."""
    version, _, _ = api_path[1:].partition("/")
    version = f"/{version}"
    tail = api_path.removeprefix(version)  # /chat/completions
    if given.endswith(api_path):
        return given.removesuffix(api_path), given
    if tail and given.endswith(tail):  # another version's path, or none: the user knows better
        return given.removesuffix(tail), given
    if tail and given.endswith(version):
        return given.removesuffix(version), given + tail
    return given, given + api_path
