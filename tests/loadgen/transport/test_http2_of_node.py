"""HTTP/2 against a server made by others on another library: Node's, on nghttp2."""

import subprocess
from pathlib import Path

import gevent
import pytest
import trustme

from loadgen.http_body import HttpAnswer
from loadgen.transport.call import Call
from loadgen.transport.endpoint import Endpoint
from loadgen.transport.negotiate import http_version
from loadgen.transport.request import http_request

driver = pytest.importorskip("playwright._impl._driver", reason="its driver brings Node")
pytestmark = pytest.mark.slow
SCRIPT = Path(__file__).with_name("node_http2.js")
BODY = b"".join(b"data: %d\n\n" % k for k in range(5)) + b"data: [DONE]\n\n"


@pytest.fixture(scope="module", params=["http", "https"])
def endpoint(request, tmp_path_factory):
    """A server's endpoint, the choice of HTTP still open."""
    node, folder = driver.compute_driver_executable()[0], tmp_path_factory.mktemp("node")
    arguments, ca_file = [], None
    if request.param == "https":
        authority = trustme.CA()
        certificate = authority.issue_cert("127.0.0.1")
        files = [folder / name for name in ("key.pem", "server.pem", "ca.pem")]
        certificate.private_key_pem.write_to_path(files[0])
        certificate.cert_chain_pems[0].write_to_path(files[1])
        authority.cert_pem.write_to_path(files[2])
        arguments, ca_file = files[:2], str(files[2])
    process = subprocess.Popen(
        [node, SCRIPT, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    port = int(process.stdout.readline())
    yield Endpoint(request.param, "127.0.0.1", port, ca_file=ca_file)
    process.communicate(timeout=10)


class AskedPaths:
    """Requests for paths of one endpoint over HTTP/2, numbered from 0."""

    def __init__(self, asker, endpoint):
        self.asker, self.endpoint, self.n = asker(endpoint.speaking("2")), endpoint, 0

    def ask(self, path="/", body=b"{}"):
        n, self.n = self.n, self.n + 1
        raw = http_request(self.endpoint, path, {}, body)
        return self.asker.pool.perform(Call(n, raw, {}))

    def answer(self, n):
        seen = HttpAnswer()
        body = b"".join(seen.feed(self.asker.spool.received(n)))
        return body, seen


@pytest.fixture
def paths(asker, endpoint):
    return AskedPaths(asker, endpoint)


def test_it_is_found_to_speak_http2_only(endpoint):
    assert http_version(endpoint, 5) == "2"


def test_http1_towards_it_says_so(endpoint, asker):
    done = asker(endpoint).ask()
    assert done.cause in ("malformed", "tls_failed")
    assert "speaks HTTP/2 only" in done.detail


def test_streams_arrive_whole_and_stamped_one_after_the_other_and_side_by_side(paths):
    paths.asker.pool.warm(5)
    asking = [gevent.spawn(paths.ask) for _ in range(20)]
    gevent.joinall(asking, timeout=20)
    assert paths.ask().cause == "done"
    assert {g.value.cause for g in asking} == {"done"}
    assert all(paths.answer(n)[0] == BODY for n in range(21))
    assert all(delay >= 0 for _, _, delay, _, _ in paths.asker.spool.reads)
    assert paths.asker.closed(20)["conn_reused"] is True


def test_a_large_body_arrives_whole(paths):
    assert paths.ask(body=bytes(5_000_000)).cause == "done"
    assert paths.answer(0)[1].headers["x-received"] == "5000000"


def test_an_answer_during_which_it_goes_away_is_whole_and_the_connection_is_left(paths):
    assert [paths.ask("/farewell").cause for _ in range(3)] == ["done"] * 3
    assert paths.answer(2)[0] == BODY
    assert [paths.asker.closed(n)["conn_reused"] for n in range(3)] == [False] * 3
    assert paths.asker.pool.open_connections == 0


def test_an_answer_that_it_breaks_off_is_a_failure_that_keeps_its_beginning(paths):
    done = paths.ask("/broken")
    assert done.cause in ("reset", "eof")
    assert b"data: 0" in paths.asker.spool.received(0)
