"""The engine against schedules worked out by hand."""

import random
from dataclasses import replace

import pytest

from simulator.engine import Engine, run_all
from simulator.engine_config import EngineConfig
from simulator.kv_blocks import block_hashes
from simulator.sequence import EngineRequest

# a = 1000, b = 100 per decoding sequence, c = 10 per prompt token; context is free unless said
PLAIN = EngineConfig(
    step_ns=1000, sequence_ns=100, prefill_token_ns=10, max_batch=4, token_budget=64,
    block_tokens=4, kv_blocks=64, context_tokens=256, has_prefix_cache=False,
)  # fmt: skip


def engine(config: EngineConfig, seed: int = 1) -> Engine:
    return Engine(config, random.Random(seed))


def trace(machine: Engine) -> list[tuple[int, dict[int, int]]]:
    """(end of step, {request: tokens}) until nothing is left to do."""
    steps: list[tuple[int, dict[int, int]]] = []
    while (step := machine.step()) is not None:
        tokens = {e.sequence.request.request_id: e.n_tokens for e in step.emissions}
        steps.append((step.end_ns, tokens))
    return steps


def test_one_request_alone_costs_its_prompt_and_then_one_step_per_token():
    machine = engine(PLAIN)
    machine.submit(EngineRequest(1, prompt_tokens=20, output_tokens=3), now_ns=500)
    # prefill 1000 + 20 x 10 from 500 on, then two decode steps of 1000 + 100
    assert trace(machine) == [(1700, {1: 1}), (2800, {1: 1}), (3900, {1: 1})]


def test_context_makes_each_further_token_dearer():
    machine = engine(replace(PLAIN, context_token_ns=1))
    machine.submit(EngineRequest(1, 20, 3), now_ns=0)
    # the decode steps read 20, then 21 KV entries
    assert [end for end, _ in trace(machine)] == [1200, 1200 + 1120, 2320 + 1121]


def test_batch_of_one_serves_in_order_of_arrival():
    machine = engine(replace(PLAIN, max_batch=1))
    machine.submit(EngineRequest(1, 10, 2), now_ns=0)
    machine.submit(EngineRequest(2, 10, 1), now_ns=0)
    # 1: prefill to 1100, decode to 2200; only then 2
    assert trace(machine) == [(1100, {1: 1}), (2200, {1: 1}), (3300, {2: 1})]


def test_an_arrival_during_a_step_waits_for_the_next():
    machine = engine(PLAIN)
    machine.submit(EngineRequest(1, 10, 3), now_ns=0)
    second = machine.submit(EngineRequest(2, 10, 1), now_ns=1)
    # step 2 decodes 1 and prefills 2: 1000 + 100 + 100
    assert trace(machine) == [(1100, {1: 1}), (2300, {1: 1, 2: 1}), (3400, {1: 1})]
    assert second.admitted_ns == 1100


def test_a_long_prompt_is_computed_in_chunks_beside_decoding_sequences():
    machine = engine(replace(PLAIN, token_budget=8))
    machine.submit(EngineRequest(1, 4, 5), now_ns=0)
    machine.submit(EngineRequest(2, 17, 1), now_ns=1)
    assert trace(machine) == [
        (1040, {1: 1}),  # 4 prompt tokens
        (1040 + 1170, {1: 1}),  # one token decoded, 7 of the prompt in the remaining budget
        (2210 + 1170, {1: 1}),  # 7 more
        (3380 + 1130, {1: 1, 2: 1}),  # the last 3
        (4510 + 1100, {1: 1}),
    ]


def test_a_full_cache_preempts_the_youngest_which_is_computed_anew():
    # 4 blocks of 4 tokens; each request ends with 4 + 5 tokens, i.e. 3 blocks
    machine = engine(replace(PLAIN, kv_blocks=4, context_tokens=16))
    machine.submit(EngineRequest(1, 4, 6), now_ns=0)
    second = machine.submit(EngineRequest(2, 4, 6), now_ns=0)
    assert trace(machine) == [
        (1080, {1: 1, 2: 1}),  # a block each
        (2280, {1: 1, 2: 1}),  # the second block each: full
        (3480, {1: 1, 2: 1}),
        (4680, {1: 1, 2: 1}),
        (5880, {1: 1, 2: 1}),
        (6980, {1: 1}),  # its third block is taken from 2, which had 5 tokens; 1 ends
        (6980 + 1090, {2: 1}),  # 4 + 5 tokens recomputed, then the sixth token
    ]
    assert second.preemptions == 1
    assert machine.blocks.used == 0


def test_the_preempted_goes_to_the_head_of_the_queue():
    # as above with a third request waiting; 2 needs 3 of the 4 blocks again, which leaves 1 for 3
    machine = engine(replace(PLAIN, kv_blocks=4, context_tokens=16, max_batch=2))
    for request_id in (1, 2, 3):
        machine.submit(EngineRequest(request_id, 4, 6), now_ns=0)
    steps = trace(machine)
    assert steps[5:7] == [(6980, {1: 1}), (6980 + 1000 + 90 + 40, {2: 1, 3: 1})]


def test_a_prompt_seen_before_is_taken_from_the_cache_except_its_last_token():
    words = tuple(["the", "quick", "brown", "fox", "jumps", "over", "the", "lazy"])
    hashes = block_hashes(words, block_tokens=4)
    machine = engine(replace(PLAIN, has_prefix_cache=True))
    first = machine.submit(EngineRequest(1, 8, 1, hashes), now_ns=0)
    second = machine.submit(EngineRequest(2, 8, 1, hashes), now_ns=5000)
    third = machine.submit(EngineRequest(3, 9, 1, hashes), now_ns=9000)
    # 2 reuses one block of two: one token of the second must be computed, so all four are
    assert trace(machine) == [(1080, {1: 1}), (5000 + 1040, {2: 1}), (9000 + 1010, {3: 1})]
    assert [s.cached_tokens for s in (first, second, third)] == [0, 4, 8]


def test_a_perfect_draft_gives_all_its_tokens_at_once_and_a_bad_one_only_one():
    for acceptance, counts in ((1.0, [1, 4, 2]), (0.0, [1, 1, 1, 1, 1, 1, 1])):
        machine = engine(replace(PLAIN, draft_tokens=3, acceptance=acceptance))
        machine.submit(EngineRequest(1, 4, 7), now_ns=0)
        assert [tokens[1] for _, tokens in trace(machine)] == counts


def test_acceptance_is_seeded():
    def counts(seed: int) -> list[int]:
        machine = engine(replace(PLAIN, draft_tokens=3, acceptance=0.6), seed)
        machine.submit(EngineRequest(1, 4, 100), now_ns=0)
        return [tokens[1] for _, tokens in trace(machine)]

    assert counts(7) == counts(7) != counts(8)
    # tokens per step: 1 + 0.6 + 0.36 + 0.216 = 2.18; 99 tokens in about 45 steps
    assert 38 <= len(counts(7)) - 1 <= 54


def test_a_static_batch_ends_as_a_whole_and_pays_for_its_padding():
    machine = engine(replace(PLAIN, batching="static", max_batch=2))
    for request_id, n_out in ((1, 3), (2, 1), (3, 1)):
        machine.submit(EngineRequest(request_id, 10, n_out), now_ns=0)
    assert trace(machine) == [
        (1200, {1: 1, 2: 1}),  # 2 is over, its slot is not
        (2400, {1: 1}),  # two slots decode
        (3600, {1: 1}),
        (4700, {3: 1}),
    ]
    assert machine.blocks.used == 0


def test_an_aborted_request_gets_no_more_tokens_and_frees_its_place():
    machine = engine(replace(PLAIN, max_batch=1))
    machine.submit(EngineRequest(1, 10, 100), now_ns=0)
    machine.submit(EngineRequest(2, 10, 1), now_ns=0)
    machine.submit(EngineRequest(3, 10, 1), now_ns=0)
    step = machine.plan_step()
    assert step is not None
    assert machine.abort(1)
    assert machine.abort(2)
    assert machine.finish_step(step) == []
    assert trace(machine) == [(2200, {3: 1})]
    assert not machine.abort(3), "it is over"
    assert (machine.has_work, machine.blocks.used) == (False, 0)


def test_counts_of_running_and_waiting_hold_between_plan_and_finish():
    machine = engine(replace(PLAIN, max_batch=2))
    for request_id in (1, 2, 3):
        machine.submit(EngineRequest(request_id, 10, 1), now_ns=0)
    assert (machine.n_running, machine.n_waiting) == (0, 3)
    step = machine.plan_step()
    assert step is not None
    assert (machine.n_running, machine.n_waiting) == (2, 1)
    machine.finish_step(step)
    assert (machine.n_running, machine.n_waiting) == (0, 1)


def test_a_server_that_was_late_moves_the_next_step():
    machine = engine(PLAIN)
    machine.submit(EngineRequest(1, 10, 2), now_ns=0)
    machine.step()
    machine.resume_at(5000)
    assert trace(machine) == [(6100, {1: 1})]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"max_batch": 0}, "max_batch"),
        ({"step_ns": -1}, "step_ns"),
        ({"acceptance": 1.5}, "acceptance is 1.5"),
        ({"kv_blocks": 2}, "kv_blocks x block_tokens is 8"),
        ({"token_budget": 7, "draft_tokens": 1}, "must fit into a step"),
        ({"batching": "lazy"}, "'lazy'"),
    ],
)
def test_a_configuration_that_cannot_work_says_why(change: dict[str, object], word: str):
    with pytest.raises(ValueError, match=word):
        replace(PLAIN, **change)  # type: ignore[arg-type]  # wrong values are the point


def test_requests_are_served_whole_in_virtual_time():
    done = run_all(engine(PLAIN), [(0, EngineRequest(1, 5, 2)), (10_000, EngineRequest(2, 5, 1))])
    assert [s.last_token_ns for s in done] == [2150, 11_050]


def test_without_a_prefix_cache_a_repeated_prompt_costs_as_before():
    machine = engine(PLAIN)
    for request_id, at_ns in ((1, 0), (2, 5000)):
        machine.submit(EngineRequest(request_id, 8, 1, (11, 22)), at_ns)
    assert trace(machine) == [(1080, {1: 1}), (6080, {2: 1})]
