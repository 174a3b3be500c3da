"""The simulator as a process: its truth log, its metrics, its beginnings and ends."""

import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from simulated import CHAT, PROJECT, Server, simulator, start, words_of

from simulator.truth_log import read_truth

pytestmark = pytest.mark.slow

FAST = ("--set", "step_ns=2000000", "--set", "sequence_ns=0", "--set", "prefill_token_ns=1000")
# What a user of vLLM's dashboards looks for (captured from vLLM 0.32.0, /metrics).
VLLM_NAMES = (
    "num_requests_running num_requests_waiting kv_cache_usage_perc prefix_cache_queries_total "
    "prefix_cache_hits_total num_preemptions_total prompt_tokens_total prompt_tokens_cached_total "
    "generation_tokens_total request_success_total iteration_tokens_total_bucket "
    "request_prompt_tokens_bucket request_generation_tokens_bucket time_to_first_token_seconds_sum "
    "inter_token_latency_seconds_bucket request_time_per_output_token_seconds_bucket "
    "e2e_request_latency_seconds_bucket request_queue_time_seconds_bucket "
    "request_inference_time_seconds_bucket request_prefill_time_seconds_bucket "
    "request_decode_time_seconds_count request_params_max_tokens_bucket"
)


def ask(n_tokens: int) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": f"prompt number {n_tokens}"}],
        "max_tokens": n_tokens,
        "ignore_eos": True,
    }


def test_the_truth_log_equals_what_was_sent(tmp_path: Path):
    log = tmp_path / "truth.jsonl"
    with simulator("--profile", "small-gpu", *FAST, "--truth", str(log)) as server:
        got: dict[int, list[str]] = {}
        before = time.time_ns(), time.monotonic_ns()

        def client(n: int) -> None:
            got[n] = words_of(server.stream(CHAT, ask(n), X_Request_Id=f"run-{n}"))

        clients = [Thread(target=client, args=(n,)) for n in range(20, 30)]
        for thread in clients:
            thread.start()
        for thread in clients:
            thread.join()
        server.ask(CHAT, ask(3), {"X-Request-Id": "plain"})
        server.ask(CHAT, {**ask(9), "stream": True, "x_sim_fault": "error_after=4"})
        after = time.time_ns(), time.monotonic_ns()
        assert server.stop() == 0
    truth = {request.x_request_id: request for request in read_truth(log)}
    assert len(truth) == 12
    for n in range(20, 30):
        request = truth[f"run-{n}"]
        assert len(got[n]) == n == len(request.tokens) == request.output_tokens
        assert [token.seq for token in request.tokens] == list(range(n))
        assert (request.prompt_tokens, request.how) == (3, "done")
        mono_ns = [request.arrival_mono_ns, *(token.mono_ns for token in request.tokens)]
        real_ns = [request.arrival_real_ns, *(token.real_ns for token in request.tokens)]
        assert mono_ns == sorted(mono_ns)
        assert before[0] < real_ns[0] < real_ns[-1] < after[0]
        assert before[1] < mono_ns[0] < mono_ns[-1] < after[1]
        assert mono_ns[-1] - mono_ns[0] >= n * 2_000_000, "a step of 2 ms for each token"
    assert (truth["plain"].tokens, truth["plain"].how) == ([], "done")
    (failed,) = [request for request in truth.values() if request.how == "error"]
    assert len(failed.tokens) == 4


def test_the_truth_log_is_readable_while_the_server_runs(tmp_path: Path):
    log = tmp_path / "truth.jsonl"
    with simulator("--profile", "small-gpu", *FAST, "--truth", str(log)) as server:
        server.stream(CHAT, ask(7))
        deadline = time.monotonic() + 5
        while not (log.exists() and b'"end"' in log.read_bytes()) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert [len(request.tokens) for request in read_truth(log)] == [7]
        server.process.kill()
    with log.open("ab") as file:
        file.write(b'{"event":"token","requ')
    assert [len(request.tokens) for request in read_truth(log)] == [7], "a torn line is left out"


def test_the_metrics_page_is_prometheus_text_with_vllm_s_names():
    with simulator("--profile", "small-gpu", *FAST, "--model", 'a "b"') as server:
        for n in (2, 5):
            server.stream(CHAT, ask(n))
        text = server.ask("/metrics")[1].decode()
        sample = re.compile(r'[a-z0-9_:]+\{([a-z_]+="([^"\\]|\\.)*",?)+\} -?[0-9.e+-]+')
        for line in text.splitlines():
            assert line.startswith(("# HELP ", "# TYPE ")) or sample.fullmatch(line), line
        for name in VLLM_NAMES.split():
            assert f"\nvllm:{name}{{" in text, name
        assert server.metric("vllm:generation_tokens_total") == 7
        assert server.metric("vllm:prompt_tokens_total") == 6
        assert server.metric("vllm:time_to_first_token_seconds_count") == 2
        assert server.metric("vllm:inter_token_latency_seconds_count") == 5
        assert server.metric("vllm:e2e_request_latency_seconds_count") == 2
        gaps_s = server.metric("vllm:inter_token_latency_seconds_sum")
        assert gaps_s >= 5 * 0.002, "engine time: steps of 2 ms, none shorter"


def test_queueing_shows_in_the_gauges():
    with simulator("--profile", "small-gpu", *FAST, "--set", "max_batch=2") as server:
        clients = [Thread(target=server.stream, args=(CHAT, ask(200))) for _ in range(5)]
        for thread in clients:
            thread.start()
        deadline = time.monotonic() + 5
        seen = set[tuple[float, float]]()
        while (2, 3) not in seen and time.monotonic() < deadline:
            text = server.ask("/metrics")[1].decode()
            running = re.search(r"num_requests_running\{.*\} (.*)", text)
            waiting = re.search(r"num_requests_waiting\{.*\} (.*)", text)
            assert running
            assert waiting
            seen.add((float(running[1]), float(waiting[1])))
        for thread in clients:
            thread.join()
        assert (2, 3) in seen
        assert max(running for running, _ in seen) == 2


def test_a_key_is_asked_for_on_the_api_alone():
    with simulator("--api-key-env", "SIM_KEY", SIM_KEY="s3cret") as server:
        assert server.ask("/v1/models") == (401, b'{"error":"Unauthorized"}')
        assert server.ask("/v1/models", headers={"Authorization": "Bearer wrong"})[0] == 401
        assert server.ask("/v1/models", headers={"Authorization": "Bearer s3cret"})[0] == 200
        assert server.ask("/health")[0] == server.ask("/metrics")[0] == 200


def test_a_taken_port_is_one_sentence_and_exit_code_2():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = start("--port", str(port))
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (2, "")
    assert err.count("\n") == 1
    assert f"127.0.0.1:{port}: Address already in use" in err
    assert "--port" in err


def test_an_address_that_is_not_ours_is_one_sentence_and_exit_code_2():
    process = start("--port", "0", "--host", "192.0.2.1")
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err.count("\n")) == (2, 1)
    assert "Cannot listen on 192.0.2.1:" in err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_at_once_even_with_open_streams(number: signal.Signals):
    with simulator("--profile", "small-gpu") as server:
        connection = server.connect()
        connection.request("POST", CHAT, b'{"messages":[{"content":"a"}],"stream":true}')
        connection.getresponse().readline()
        server.process.send_signal(number)
        assert server.process.wait(3) == 0
        connection.close()


def test_it_ends_when_its_parent_is_killed():
    code = (
        "import subprocess, sys, time\n"
        "words = [sys.executable, '-m', 'simulator.server', '--port', '0', '--with-parent']\n"
        "subprocess.Popen(words)\n"
        "time.sleep(60)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code], cwd=PROJECT, stdout=subprocess.PIPE, text=True
    )
    server = Server(parent)
    assert server.ask("/health")[0] == 200
    parent.kill()
    parent.wait(10)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            server.ask("/health")
        except OSError:
            return
        time.sleep(0.05)
    pytest.fail("the simulator outlived its parent")


def test_a_full_disk_is_said_at_the_end_and_disturbs_no_stream():
    with simulator("--profile", "small-gpu", *FAST, "--truth", "/dev/full") as server:
        assert len(words_of(server.stream(CHAT, ask(100)))) == 100
        server.process.terminate()
        _, err = server.process.communicate(timeout=10)
    assert (server.process.returncode, err.count("\n")) == (2, 1)
    assert "The truth log is incomplete: No space left on device." in err
