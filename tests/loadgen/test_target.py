"""A plan's target becomes an endpoint: whom to trust, through which proxy, over which HTTP."""

import os
import ssl
import time
from functools import partial

import pytest
import trustme

from loadgen.memory_spool import MemorySpool
from loadgen.plan import PlanError, parse
from loadgen.schedule import PlannedRequest
from loadgen.sender import Sender
from loadgen.target import target_endpoint, version_after_failure
from loadgen.wire.registry import APIS
from tests.endpoints import DONE, GOOD, USAGE, token
from tests.endpoints import endpoint as a_server
from tests.loadgen.transport.h2_server import h2_script, streamed
from tests.loadgen.transport.scripted_server import ScriptedServer

CHAT = "/v1/chat/completions"


def plan_for(url, **target):
    raw = {"target": {"url": url, "model": "m", **target}}
    return parse({**raw, "stages": [{"concurrency": 1, "requests": 1}]})


def endpoint_for(url, run=None, environment=None, **target):
    run = {"target_url": url, **(run or {})}
    return target_endpoint(plan_for(url, **target).target, run, CHAT, environment or {})[0]


def test_the_plan_says_whom_to_trust():
    endpoint = endpoint_for("http://h", verify_tls=False, ca_file="own.pem")
    assert (endpoint.verify_tls, endpoint.ca_file) == (False, "own.pem")
    assert endpoint_for("http://h").verify_tls


def test_the_environment_says_through_which_proxy_but_not_for_the_simulator():
    environment = {"ALL_PROXY": "http://proxy:3128"}
    assert endpoint_for("http://h", environment=environment).proxy.name == "proxy:3128"
    run = {"target_url": "http://127.0.0.1:8000"}
    assert endpoint_for("sim://steady", run, environment).proxy is None


def test_a_proxy_that_cannot_be_used_is_the_users_to_change():
    with pytest.raises(PlanError, match="ALL_PROXY names no proxy"):
        endpoint_for("http://h", environment={"ALL_PROXY": "socks5://proxy:1080"})


def test_the_version_is_what_the_run_learned_else_what_the_plan_says():
    assert endpoint_for("https://h", {"http": "2"}).http == "2"
    assert endpoint_for("https://h", {"http": "1.1"}, http="2").http == "1.1"
    assert endpoint_for("https://h", http="2").http == "2"
    assert endpoint_for("https://h", http="1.1").http == "1.1"


def test_without_tls_http1_is_tried_first():
    assert endpoint_for("http://h").http == "1.1"


@pytest.mark.slow
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_server_on_this_machine_is_reached_whatever_the_environment_says(monkeypatch, host):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with a_server(lambda _n, _body: GOOD) as numeric:
        url = numeric.replace("127.0.0.1", host)
        endpoint, row = asked(plan_for(url))
    assert (endpoint.proxy, row.outcome) == (None, "complete")
    assert endpoint_for("http://h", environment=os.environ).proxy.name == "127.0.0.1:1"


@pytest.fixture
def h2_server(tmp_path):
    """h2_server(scheme) is (url, ca_file) of a server that streams two tokens over HTTP/2 only."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    context.set_alpn_protocols(["h2"])
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    script = h2_script(streamed(token("a"), token("b", "stop"), USAGE, DONE), [])
    servers = []

    def start(scheme):
        wrap = {"wrap": partial(context.wrap_socket, server_side=True)}
        servers.append(ScriptedServer(script, **(wrap if scheme == "https" else {})))
        return f"{scheme}://127.0.0.1:{servers[-1].port}", str(tmp_path / "ca.pem")

    yield start
    for server in servers:
        server.close()


def asked(plan, **run):
    """(the endpoint used, the decoded row) of one request."""
    run = {"run_uid": "u", "target_url": plan.target.url, **run}
    spool, begin_ns = MemorySpool(), time.monotonic_ns()
    sender = Sender(plan, run, spool)
    planned = PlannedRequest(0, 0, None, "Hello", 1, 2, True)
    sender.send(planned, None)
    sender.pool.close()
    row = spool.decoder(APIS[plan.target.api], begin_ns).close(spool.closed)
    return sender.endpoint, row


@pytest.mark.slow
def test_a_tls_server_of_http2_is_found_out_before_the_first_request(h2_server):
    url, ca_file = h2_server("https")
    endpoint, row = asked(plan_for(url, ca_file=ca_file))
    assert endpoint.http == "2"
    assert (row.outcome, row.n_chunks, row.output_tokens) == ("complete", 2, 2)


@pytest.mark.slow
def test_a_plain_server_of_http2_is_found_out_by_a_failed_request(h2_server):
    url, _ = h2_server("http")
    plan = plan_for(url)
    endpoint, row = asked(plan)
    assert (endpoint.http, row.outcome) == ("1.1", "malformed")
    learned = version_after_failure(plan.target, endpoint)
    endpoint, row = asked(plan, http=learned)
    assert (endpoint.http, row.outcome, row.n_chunks) == ("2", "complete", 2)


@pytest.mark.slow
def test_a_version_that_the_plan_names_is_kept_and_so_is_an_unreachable_endpoint(h2_server):
    url, _ = h2_server("http")
    plan = plan_for(url, http="1.1")
    assert version_after_failure(plan.target, endpoint_for(url, http="1.1")) == "1.1"
    nowhere = "http://127.0.0.1:1"
    assert version_after_failure(plan_for(nowhere).target, endpoint_for(nowhere)) == "1.1"
