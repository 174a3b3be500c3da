"""The bytes of a request, as another parser reads them."""

from dataclasses import replace

import httptools
import pytest

from loadgen.transport.endpoint import Endpoint
from loadgen.transport.proxy import Proxy
from loadgen.transport.request import RequestForm, http_request

ENDPOINT = Endpoint("http", "::1", 8000)


class Seen:
    def __init__(self, raw):
        self.headers, self.body, self.complete = {}, b"", False
        parser = httptools.HttpRequestParser(self)
        parser.feed_data(raw)
        self.method = parser.get_method()

    def on_url(self, url):
        self.url = url

    def on_header(self, name, value):
        self.headers[name.decode().lower()] = value.decode()

    def on_body(self, body):
        self.body += body

    def on_message_complete(self):
        self.complete = True


def test_a_request_carries_our_headers_the_callers_and_the_whole_body():
    headers = {"Authorization": "Bearer k", "X-Request-Id": "run-7"}
    seen = Seen(http_request(ENDPOINT, "/v1/x?y=1", headers, b'{"a": "\xc3\xa9"}'))
    assert (seen.method, seen.url, seen.body) == (b"POST", b"/v1/x?y=1", b'{"a": "\xc3\xa9"}')
    assert seen.complete
    assert seen.headers["host"] == "[::1]:8000"
    assert seen.headers["accept-encoding"] == "identity"
    assert seen.headers["content-type"] == "application/json"
    assert seen.headers["user-agent"].startswith("headway/")
    assert seen.headers["authorization"] == "Bearer k"
    assert seen.headers["x-request-id"] == "run-7"


def test_without_a_body_it_is_a_get():
    seen = Seen(http_request(ENDPOINT, "/v1/models", {}, None))
    assert (seen.method, seen.complete) == (b"GET", True)
    assert "content-length" not in seen.headers


@pytest.mark.parametrize("key", ["sk-1\n", "sk-1\r\nX: y", "sk-\u20ac"])
def test_a_key_with_a_line_end_is_refused_and_not_shown(key):
    with pytest.raises(ValueError, match="Authorization header holds a line break") as caught:
        http_request(ENDPOINT, "/", {"Authorization": f"Bearer {key}"}, b"")
    assert "sk-" not in str(caught.value)


PROXY = Proxy("proxy", 3128, "HTTP_PROXY", "Basic dTpw")


def test_a_proxy_is_told_the_whole_url_and_who_we_are():
    seen = Seen(http_request(replace(ENDPOINT, proxy=PROXY), "/v1/x", {}, b"{}"))
    assert seen.url == b"http://[::1]:8000/v1/x"
    assert seen.headers["host"] == "[::1]:8000"
    assert seen.headers["proxy-authorization"] == "Basic dTpw"


def test_through_a_tunnel_the_server_learns_nothing_of_the_proxy():
    seen = Seen(http_request(replace(ENDPOINT, scheme="https", proxy=PROXY), "/v1/x", {}, b"{}"))
    assert seen.url == b"/v1/x"
    assert "proxy-authorization" not in seen.headers


@pytest.mark.parametrize("proxied", [False, True])
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/x%20y?api-version=%d"])
def test_a_form_makes_the_same_bytes_as_a_request_written_out(path, proxied):
    proxy = Proxy("proxy", 3128, "HTTP_PROXY", authorization="Basic %s")
    endpoint = replace(ENDPOINT, host="server", proxy=proxy) if proxied else ENDPOINT
    form = RequestForm(endpoint, path, {"Authorization": "Bearer 100%"})
    for name, body in (("run-1", b""), ("run-22", b'{"a": "%b \xc3\xa9"}')):
        headers = {"Authorization": "Bearer 100%", "X-Request-Id": name}
        assert form.request(name, body) == http_request(endpoint, path, headers, body)


def test_a_form_refuses_a_key_with_a_line_end_when_it_is_made():
    with pytest.raises(ValueError, match="Authorization header holds a line break"):
        RequestForm(ENDPOINT, "/", {"Authorization": "Bearer sk-1\n"})
