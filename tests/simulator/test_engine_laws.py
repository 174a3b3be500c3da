"""What must hold for any load: conservation, fairness, and the queueing theory of one server."""

import random
from itertools import pairwise

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from simulator.engine import Engine, run_all
from simulator.engine_config import EngineConfig
from simulator.kv_blocks import block_hashes
from simulator.sequence import EngineRequest

BLOCK_TOKENS = 4

configs = st.builds(
    EngineConfig,
    step_ns=st.integers(1, 50),
    sequence_ns=st.integers(0, 5),
    prefill_token_ns=st.integers(0, 5),
    context_token_ns=st.integers(0, 2),
    max_batch=st.integers(1, 5),
    token_budget=st.integers(20, 40),
    block_tokens=st.just(BLOCK_TOKENS),
    kv_blocks=st.integers(12, 30),
    context_tokens=st.just(48),
    draft_tokens=st.integers(0, 3),
    acceptance=st.floats(0, 1),
    batching=st.sampled_from(["continuous", "static"]),
)
# prompts begin alike (one of two words repeated), so that prefixes are shared now and then
requests = st.tuples(
    st.integers(0, 300), st.integers(1, 24), st.integers(1, 24), st.sampled_from("ab")
)


def arrivals(raw: list[tuple[int, int, int, str]]) -> list[tuple[int, EngineRequest]]:
    return [
        (at, EngineRequest(i, n_in, n_out, block_hashes([word] * n_in, BLOCK_TOKENS)))
        for i, (at, n_in, n_out, word) in enumerate(sorted(raw))
    ]


@settings(max_examples=80, deadline=None)
@given(configs, st.lists(requests, min_size=1, max_size=12), st.integers(0, 99))
def test_every_request_gets_exactly_its_tokens_and_every_block_comes_back(config, raw, seed):
    machine = Engine(config, random.Random(seed))
    sequences = [machine.submit(request, at) for at, request in arrivals(raw)]
    tokens = dict.fromkeys(range(len(raw)), 0)
    end_ns = 0
    while (step := machine.plan_step()) is not None:
        assert step.begin_ns >= end_ns, "steps follow each other"
        assert len(step.parts) <= config.max_batch
        if config.batching == "continuous":
            assert sum(n for _, n in step.parts) <= config.token_budget
        assert 0 <= machine.blocks.used <= config.kv_blocks
        end_ns = step.end_ns
        for emission in machine.finish_step(step):
            tokens[emission.sequence.request.request_id] += emission.n_tokens
    assert tokens == {s.request.request_id: s.request.output_tokens for s in sequences}
    assert (machine.blocks.used, machine.n_running, machine.n_waiting) == (0, 0, 0)
    for s in sequences:
        assert s.arrival_ns <= s.admitted_ns < s.first_token_ns <= s.last_token_ns
    for earlier, later in pairwise(sequences):
        assert earlier.admitted_ns <= later.admitted_ns, "first come, first served"


@settings(max_examples=50, deadline=None)
@given(configs, st.lists(requests, min_size=2, max_size=10), st.data())
def test_aborts_at_any_moment_leave_nothing_behind(config, raw, data):
    machine = Engine(config, random.Random(0))
    for at, request in arrivals(raw):
        machine.submit(request, at)
    doomed = data.draw(st.lists(st.integers(0, len(raw) - 1), unique=True))
    while (step := machine.plan_step()) is not None:
        if doomed and data.draw(st.booleans()):
            machine.abort(doomed.pop())
        for emission in machine.finish_step(step):
            assert not emission.sequence.is_aborted
    assert (machine.blocks.used, machine.has_work) == (0, False)


def one_server(rho: float, n: int) -> tuple[list[int], list[int], list[int]]:
    """Arrivals, services and waits (ns) of a batch of one with exponential services, mean 1 ms."""
    mean_ns = 1_000_000
    rng = random.Random(20261130)
    config = EngineConfig(
        prefill_token_ns=1000, max_batch=1, token_budget=10**6, block_tokens=1024,
        kv_blocks=10**6, context_tokens=10**6,
    )  # fmt: skip
    at_ns, load = 0, list[tuple[int, EngineRequest]]()
    for i in range(n):
        at_ns += round(rng.expovariate(rho / mean_ns))
        # a prompt of exponential length and one output token: one step of exponential length
        load.append((at_ns, EngineRequest(i, 1 + int(rng.expovariate(1000 / mean_ns)), 1)))
    done = run_all(Engine(config, random.Random(0)), load)
    waits = [s.admitted_ns - s.arrival_ns for s in done if s.admitted_ns is not None]
    return [at for at, _ in load], [1000 * r.prompt_tokens for _, r in load], waits


def test_a_batch_of_one_obeys_lindleys_recursion_to_the_nanosecond():
    at_ns, service_ns, wait_ns = one_server(rho=0.8, n=2000)
    expected = 0
    for i, waited in enumerate(wait_ns):
        if i:
            expected = max(0, expected + service_ns[i - 1] - (at_ns[i] - at_ns[i - 1]))
        assert waited == expected


def test_a_batch_of_one_with_exponential_services_waits_as_m_m_1_does():
    _, _, wait_ns = one_server(rho=0.5, n=20_000)
    # W_q = rho / (1 - rho) x service = 1 ms.  The time average of the number in system, mean 1,
    # has asymptotic variance 2 rho (1 + rho) / (1 - rho)^4 = 24 services (Whitt 1989); over
    # 20,000 / 0.5 services its standard deviation is sqrt(24 / 40,000) = 2.4 %.  Four of them.
    assert sum(wait_ns) / len(wait_ns) == pytest.approx(1_000_000, rel=0.098)
