"""Which proxy the environment means for which host: pure, the environment as a dict."""

import pytest

from loadgen.transport.endpoint import Endpoint
from loadgen.transport.proxy import Proxy, is_excepted, is_loopback, proxy_for

ALL = {"HTTP_PROXY": "http://h:1", "HTTPS_PROXY": "http://s:2", "ALL_PROXY": "http://a:3"}


def found(scheme="http", host="api.example.com", port=80, **environment):
    proxy = proxy_for(scheme, host, port, environment)
    return proxy and (proxy.host, proxy.port, proxy.variable)


def test_each_scheme_has_its_variable_and_all_proxy_stands_in_for_both():
    assert found("http", **ALL) == ("h", 1, "HTTP_PROXY")
    assert found("https", **ALL) == ("s", 2, "HTTPS_PROXY")
    assert found("https", ALL_PROXY="http://a:3") == ("a", 3, "ALL_PROXY")
    assert found("http", HTTPS_PROXY="http://s:2") is None
    assert found() is None


def test_small_letters_come_before_capitals_and_an_empty_variable_is_none():
    assert found(http_proxy="http://x:9", **ALL) == ("x", 9, "http_proxy")
    assert found(http_proxy="", HTTP_PROXY="http://h:1") is None
    assert found(http_proxy=" ", ALL_PROXY="http://a:3") == ("a", 3, "ALL_PROXY")


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.1", "127.8.8.8", "0.0.0.0"),
        *("::1", "::ffff:127.0.0.1", "0:0:0:0:0:0:0:1"),
    ],
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_this_machine_itself_is_never_reached_through_a_proxy(scheme, host):
    assert is_loopback(host)
    assert found(scheme, host, **ALL) is None


@pytest.mark.parametrize("host", ["localhost.example.com", "128.0.0.1", "::2", "10.0.0.1", "a1"])
def test_other_hosts_are(host):
    assert not is_loopback(host)
    assert found("http", host, **ALL) == ("h", 1, "HTTP_PROXY")


@pytest.mark.parametrize(
    ("no_proxy", "host"),
    [
        ("*", "anything.example"),
        ("example.com", "example.com"),
        ("example.com", "api.example.com"),
        (".example.com", "api.example.com"),
        (".example.com", "example.com"),
        ("*.example.com", "api.example.com"),
        ("EXAMPLE.com", "API.example.COM."),
        ("a.org, example.com ,b.org", "example.com"),
        ("a.org example.com", "example.com"),
        ("example.com:8000", "example.com"),
        ("10.0.0.0/8", "10.20.30.40"),
        ("10.1.2.3", "10.1.2.3"),
        ("10.1.2.3:8000", "10.1.2.3"),
        ("fd00::/8", "fd00::1"),
        ("fd00::1", "fd00:0:0::1"),
        ("[fd00::1]:8000", "fd00::1"),
    ],
)
def test_no_proxy_names_hosts_domains_addresses_and_networks(no_proxy, host):
    assert is_excepted(host, 8000, no_proxy)
    assert found("http", host, 8000, NO_PROXY=no_proxy, **ALL) is None


@pytest.mark.parametrize(
    ("no_proxy", "host"),
    [
        ("", "example.com"),
        (".", "example.com"),
        ("ample.com", "example.com"),
        ("api.example.com", "example.com"),
        ("example.com:443", "example.com"),
        ("10.0.0.0/8", "11.0.0.1"),
        ("10.0.0.0/8", "ten.example"),
        ("0.1", "10.0.0.1"),
        ("fd00::/8", "10.0.0.1"),
    ],
)
def test_no_proxy_leaves_the_others(no_proxy, host):
    assert not is_excepted(host, 8000, no_proxy)


@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("http://proxy:3128", ("proxy", 3128)),
        ("http://proxy:3128/", ("proxy", 3128)),
        ("proxy:3128", ("proxy", 3128)),
        ("http://proxy", ("proxy", 80)),
        ("http://[fd00::1]:3128", ("fd00::1", 3128)),
        ("http://u:p@proxy:3128", ("proxy", 3128)),
    ],
)
def test_a_proxy_is_written_as_a_url_or_as_host_and_port(url, where):
    assert found(HTTP_PROXY=url)[:2] == where


def test_user_and_password_become_a_header_and_are_never_shown():
    proxy = proxy_for("https", "h", 443, {"HTTPS_PROXY": "http://me:s%40cret@proxy:3128"})
    assert proxy.authorization == "Basic bWU6c0BjcmV0"
    endpoint = Endpoint("https", "h", 443, proxy=proxy)
    for shown in (repr(proxy), str(proxy), repr(endpoint), proxy.name):
        assert not any(secret in shown for secret in ("cret", "bWU6", "me:"))


@pytest.mark.parametrize("url", ["socks5://u:secret@proxy:1080", "https://u:secret@proxy:443"])
def test_a_proxy_of_another_kind_is_refused_without_its_password(url):
    with pytest.raises(ValueError, match="ALL_PROXY names no proxy that can be used") as caught:
        proxy_for("http", "h", 80, {"ALL_PROXY": url})
    assert "NO_PROXY" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["http://u:secret@proxy:99999", "http://u:secret@", "http://", "http://["]
)
def test_what_is_no_url_is_refused_without_its_password(url):
    with pytest.raises(ValueError, match="expected http://") as caught:
        proxy_for("http", "h", 80, {"HTTP_PROXY": url})
    assert "secret" not in str(caught.value)


def test_an_endpoint_knows_its_proxy_and_where_the_connection_goes():
    direct = Endpoint("http", "api.example.com", 8000)
    assert direct.through_proxy({}) == direct
    proxied = direct.through_proxy({"HTTP_PROXY": "http://[fd00::1]:3128"})
    assert proxied.proxy == Proxy("fd00::1", 3128, "HTTP_PROXY")
    assert proxied.proxy.name == "[fd00::1]:3128"
    assert (direct.next_hop, proxied.next_hop) == (("api.example.com", 8000), ("fd00::1", 3128))
    assert not proxied.is_tunnelled
    assert proxied.speaking("2").is_tunnelled
    assert Endpoint("https", "h", 443, proxy=proxied.proxy).is_tunnelled
