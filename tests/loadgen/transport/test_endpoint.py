"""What a user types becomes the right host, port and path."""

import pytest

from loadgen.transport.endpoint import Endpoint, endpoint_of

CHAT = "/v1/chat/completions"


@pytest.mark.parametrize(
    ("url", "prefix", "path"),
    [
        ("http://h:1", "", CHAT),
        ("http://h:1/", "", CHAT),
        ("http://h:1/v1", "", CHAT),
        ("http://h:1/v1/", "", CHAT),
        ("http://h:1/v1/chat/completions", "", CHAT),
        ("http://h:1/openai", "/openai", "/openai" + CHAT),
        ("http://h:1/openai/v1", "/openai", "/openai" + CHAT),
        ("http://h:1/openai/v1/chat/completions", "/openai", "/openai" + CHAT),
        ("http://h:1/v1beta/chat/completions", "/v1beta", "/v1beta/chat/completions"),
        ("http://h:1/v1?api-version=3", "", CHAT + "?api-version=3"),
    ],
)
def test_root_and_v1_both_work_and_a_full_path_is_used_as_it_is(url, prefix, path):
    endpoint, found = endpoint_of(url, CHAT)
    assert (endpoint.path_prefix, found) == (prefix, path)
    assert (endpoint.host, endpoint.port, endpoint.verify_tls) == ("h", 1, True)


@pytest.mark.parametrize(
    ("url", "name", "authority"),
    [
        ("http://host", "host:80", "host"),
        ("https://host", "host:443", "host"),
        ("https://host:80", "host:80", "host:80"),
        ("http://[::1]:8000/v1", "[::1]:8000", "[::1]:8000"),
    ],
)
def test_names_show_the_port_and_the_host_header_only_an_unusual_one(url, name, authority):
    endpoint, _ = endpoint_of(url, CHAT)
    assert (endpoint.name, endpoint.authority) == (name, authority)


def test_another_api_keeps_the_v1_of_the_url():
    assert endpoint_of("http://h/v1", "/v1/completions")[1] == "/v1/completions"
    assert endpoint_of("http://h/x", "/api/chat")[1] == "/x/api/chat"


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://h", "http://", "", "http://h:99999"])
def test_what_is_no_endpoint_is_refused_with_a_sentence(url):
    with pytest.raises(ValueError, match=r"endpoint|port"):
        endpoint_of(url, CHAT)


def test_verification_can_be_given_up():
    endpoint = Endpoint("https", "h", 443)
    assert not endpoint.is_insecure
    assert not endpoint.without_verification().verify_tls
    assert endpoint.without_verification().is_insecure
    assert not Endpoint("http", "h", 80).without_verification().is_insecure
