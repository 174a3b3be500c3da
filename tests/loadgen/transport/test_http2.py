"""HTTP/2 in, HTTP/1.1 out, without a socket: against the h2 library in server mode."""

import contextlib
from itertools import pairwise

import h2.events as happened
import httptools
import pytest
from h2.errors import ErrorCodes
from h2_server import H2Peer, goaway
from hypothesis import given
from hypothesis import strategies as st

from loadgen.transport.endpoint import Endpoint
from loadgen.transport.http2 import Http2, Http2Broken, NotHttp2
from loadgen.transport.http2_frames import is_http2
from loadgen.transport.request import http_request

ENDPOINT = Endpoint("https", "api.example.com", 8443, http="2")


def request(body=b"{}"):
    return http_request(ENDPOINT, "/v1/x?y=1", {"X-Request-Id": "run-7"}, body)


def exchange(client, peer, data):
    """Bytes go back and forth until neither has more to say; the streams the peer can answer."""
    ready = []
    while data:
        ready += peer.receive(data)
        assert client.received(peer.owed()) == b""
        data = client.owed()
    return ready


def asked(body=b"{}"):
    """A client that has sent a request, and a peer that has it, as stream 1."""
    client, peer = Http2("https"), H2Peer()
    assert exchange(client, peer, client.owed() + client.request(request(body))) == [1]
    return client, peer


class Seen:
    """An answer as httptools reads it."""

    def __init__(self, raw):
        self.headers, self.body, self.messages = {}, b"", 0
        parser = httptools.HttpResponseParser(self)
        parser.feed_data(raw)
        self.status = parser.get_status_code()

    def on_header(self, name, value):
        self.headers[name.decode()] = value.decode()

    def on_body(self, body):
        self.body += body

    def on_message_complete(self):
        self.messages += 1


def test_a_request_becomes_one_stream_with_our_headers():
    _, peer = asked(b'{"a": 1}')
    (headers, body) = peer.requests[0]
    assert (headers[":method"], body) == ("POST", b'{"a": 1}')
    assert (headers[":scheme"], headers[":authority"]) == ("https", "api.example.com:8443")
    assert headers[":path"] == "/v1/x?y=1"
    assert headers["x-request-id"] == "run-7"
    assert headers["content-length"] == "8"
    assert not {"host", "connection"} & set(headers)


def test_without_a_body_the_request_ends_with_its_head():
    client, peer = Http2("https"), H2Peer()
    exchange(client, peer, client.owed() + client.request(request(None)))
    assert peer.requests[0][0][":method"] == "GET"
    assert not client.is_sending


def test_each_data_frame_is_a_chunk_and_the_end_of_the_stream_the_last_one():
    client, peer = asked()
    peer.begin(1)
    head = client.received(peer.owed())
    assert head == (
        b"HTTP/1.1 200 \r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    peer.piece(1, b"data: 1\n\n")
    assert client.received(peer.owed()) == b"9\r\ndata: 1\n\n\r\n"
    peer.piece(1, b"")
    assert client.received(peer.owed()) == b""
    peer.end(1)
    assert client.received(peer.owed()) == b"0\r\n\r\n"
    assert client.can_go_on


def test_a_content_length_makes_way_for_the_chunks():
    client, peer = asked()
    peer.begin(1, **{"content-length": "2"})
    peer.h2.send_data(1, b"ok", end_stream=True)
    seen = Seen(client.received(peer.owed()))
    assert (seen.status, seen.body, seen.messages) == (200, b"ok", 1)
    assert "content-length" not in seen.headers


@pytest.mark.parametrize("status", ["204", "304"])
def test_an_answer_that_can_have_no_body_ends_with_its_head(status):
    client, peer = asked()
    peer.h2.send_headers(1, [(":status", status)], end_stream=True)
    seen = Seen(client.received(peer.owed()))
    assert (seen.status, seen.messages) == (int(status), 1)


def test_announcements_and_trailers_stay_what_they_are():
    client, peer = asked()
    peer.h2.send_headers(1, [(":status", "103"), ("link", "</x>")])
    assert client.received(peer.owed()) == b"HTTP/1.1 103 \r\nlink: </x>\r\n\r\n"
    peer.begin(1)
    peer.h2.send_headers(1, [("x-sum", "7")], end_stream=True)
    seen = Seen(client.received(peer.owed()))
    assert (seen.headers["x-sum"], seen.messages) == ("7", 1)


@given(
    payloads=st.lists(st.binary(max_size=40), max_size=6),
    places=st.lists(st.integers(0, 10_000), max_size=12),
    has_length=st.booleans(),  # then every frame goes through the h2 library
    padding=st.sampled_from([None, 0, 7]),
)
def test_any_cut_of_the_bytes_gives_the_same_answer(payloads, places, has_length, padding):
    client, peer = asked()
    length = {"content-length": str(sum(map(len, payloads)))} if has_length else {}
    peer.begin(1, **length)
    for payload in payloads:
        peer.h2.send_data(1, payload, pad_length=padding)
    peer.h2.ping(b"12345678")
    peer.end(1)
    raw = peer.owed()
    edges = [0, *sorted({p % len(raw) for p in places} - {0}), len(raw)]
    seen = Seen(b"".join(client.received(raw[a:b]) for a, b in pairwise(edges)))
    assert (seen.body, seen.messages) == (b"".join(payloads), 1)


FRAMES = st.builds(
    lambda kind, flags, stream, content: (
        len(content).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + content
    ),
    st.integers(0, 10),
    st.one_of(st.sampled_from([0, 1, 4, 5, 8, 9]), st.integers(0, 255)),
    st.sampled_from([0, 1, 2, 3, 7]),
    st.binary(max_size=24),
)


@given(frames=st.lists(st.one_of(FRAMES, st.binary(max_size=12)), max_size=8), begun=st.booleans())
def test_nonsense_ends_the_connection_with_an_error_of_the_endpoint(frames, begun):
    client, peer = asked()
    if begun:
        peer.begin(1)
        client.received(peer.owed())
    with contextlib.suppress(Http2Broken, NotHttp2):
        for frame in frames:
            client.received(frame)
            client.owed()
    assert client.trouble is None or not client.can_go_on


def test_a_frame_after_the_end_of_the_answer_is_no_part_of_it():
    client, peer = asked()
    peer.begin(1)
    peer.piece(1, b"a")
    said = peer.owed()
    client.received(said)
    late = said[-10:]
    peer.end(1)
    client.received(peer.owed())
    assert client.received(late) == b""


def test_a_large_body_waits_for_the_servers_windows_and_arrives_whole():
    body = bytes(range(256)) * 1_200
    client, peer = Http2("https"), H2Peer()
    first = client.owed() + client.request(request(body))
    assert len(first) < 66_500
    assert client.is_sending
    assert exchange(client, peer, first) == [1]
    assert peer.requests[0][1] == body
    assert not client.is_sending


def test_the_server_never_waits_for_our_windows():
    client, peer = asked()
    peer.begin(1)
    total, piece = 0, bytes(16_384)
    while total < 70_000_000:
        peer.piece(1, piece)
        total += len(piece)
        client.received(peer.owed())
        if owed := client.owed():
            peer.receive(owed)
        assert peer.h2.local_flow_control_window(1) > 16_000_000


def test_a_ping_is_answered():
    client, peer = asked()
    peer.h2.ping(b"12345678")
    assert client.received(peer.owed()) == b""
    peer.receive(client.owed())
    assert isinstance(peer.events[-1], happened.PingAckReceived)


def test_one_stream_follows_another():
    client, peer = asked()
    for stream in (1, 3):
        peer.begin(stream)
        peer.end(stream)
        assert client.received(peer.owed()).endswith(b"0\r\n\r\n")
        ready = exchange(client, peer, client.request(request()))
    assert ready == [5]


def test_a_server_that_goes_away_still_finishes_the_answer_under_way():
    client, peer = asked()
    peer.begin(1)
    peer.piece(1, b"a")
    peer_says = peer.owed() + goaway(last_stream=1)
    peer.piece(1, b"b")
    peer.end(1)
    seen = Seen(client.received(peer_says) + client.received(peer.owed()))
    assert (seen.body, seen.messages) == (b"ab", 1)
    assert not client.can_go_on
    assert client.trouble is None


def test_a_server_that_goes_away_before_our_request_has_not_taken_it():
    client, _ = asked()
    with pytest.raises(Http2Broken, match="GOAWAY: ENHANCE_YOUR_CALM, too_many_pings"):
        client.received(goaway(last_stream=0, code=11, said=b"too_many_pings"))
    assert not client.can_go_on


def test_going_away_while_idle_only_means_no_further_request():
    client, peer = Http2("https"), H2Peer()
    exchange(client, peer, client.owed())
    assert client.received(goaway(last_stream=0)) == b""
    assert (client.can_go_on, client.trouble) == (False, None)


def test_a_reset_stream_is_an_error_after_what_came_before_it():
    client, peer = asked()
    peer.begin(1)
    peer.piece(1, b"a")
    peer.h2.reset_stream(1, ErrorCodes.INTERNAL_ERROR)
    assert client.received(peer.owed()).endswith(b"1\r\na\r\n")
    assert "INTERNAL_ERROR" in str(client.trouble)
    with pytest.raises(Http2Broken):
        client.received(b"\0")


def test_a_stream_reset_before_a_byte_is_raised_at_once():
    client, peer = asked()
    peer.h2.reset_stream(1, ErrorCodes.REFUSED_STREAM)
    with pytest.raises(Http2Broken, match="REFUSED_STREAM"):
        client.received(peer.owed())


def test_a_server_that_wants_no_more_of_the_body_may_still_have_answered():
    client, peer = Http2("https"), H2Peer()
    peer.receive(client.owed() + client.request(request(bytes(200_000))))
    peer.begin(1, "413")
    peer.end(1)
    peer.h2.reset_stream(1, ErrorCodes.NO_ERROR)
    peer_says = peer.owed()
    seen = Seen(client.received(peer_says))
    assert (seen.status, seen.messages) == (413, 1)
    assert client.trouble is None
    assert not client.is_sending


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "HTTP/1.1"),
        (b"SSH-2.0-OpenSSH_9\r\n", "longer frame"),
        (b"\0\0\1\0\1\0\0\0\1x", "before headers"),
    ],
)
def test_what_is_not_http2_is_said_to_be_so(raw, said):
    client = Http2("http")
    client.owed()
    client.request(request())
    with pytest.raises(NotHttp2, match=said):
        client.received(raw)


def test_the_first_bytes_of_an_http2_server_are_known():
    peer = H2Peer()
    assert is_http2(peer.owed())
    assert is_http2(goaway(0))
    for other in (b"HTTP/1.1 400 Bad", b"\x15\x03\x01\0\2\2F", b"", b"\0\0", b"SSH-2.0-OpenSSH"):
        assert not is_http2(other)
