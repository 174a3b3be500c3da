"""What a request draws is a function of seed, level, class and its number."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.draws import BLOCK, NO_GROUP, Draws, pauses_s
from loadgen.plan_lengths import ExponentialPause, LogNormalPause, UniformPause
from loadgen.plan_parts import PlanError
from loadgen.plan_workload import Workload

LOGNORMAL = {"kind": "lognormal", "median": 300, "sigma": 0.8}
UNIFORM = {"kind": "uniform", "low": 1, "high": 9}


def workload(**fields):
    return Workload.model_validate(fields)


def draws(key=(1, 0, 0), pause=0, **fields):
    return Draws(workload(**fields), key, pause)


TALK = {"prompt_tokens": UNIFORM, "output_tokens": LOGNORMAL, "conversation": {"turns": UNIFORM}}


@given(st.lists(st.integers(0, 3 * BLOCK), min_size=1, max_size=30))
def test_any_request_is_the_same_in_whatever_order_they_are_asked_for(indices):
    one, other = (draws(**TALK, pause=ExponentialPause(mean=1)) for _ in range(2))
    there = {i: (one.request(i), one.turns(i), one.pause_ns(i)) for i in indices}
    back = {i: (other.request(i), other.turns(i), other.pause_ns(i)) for i in reversed(indices)}
    assert there == back


@pytest.mark.parametrize("key", [(2, 0, 0), (1, 1, 0), (1, 0, 1)])
def test_seed_level_and_class_each_change_what_is_drawn(key):
    first = [draws(prompt_tokens=LOGNORMAL).request(i) for i in range(20)]
    assert [draws(key, prompt_tokens=LOGNORMAL).request(i) for i in range(20)] != first


def test_a_column_does_not_change_when_another_one_is_spread_otherwise():
    plain = draws(prompt_tokens=LOGNORMAL)
    changed = draws(prompt_tokens=LOGNORMAL, output_tokens=UNIFORM, prefix={"tokens": 5})
    for i in (0, 5, BLOCK + 1):
        assert plain.request(i).prompt_tokens == changed.request(i).prompt_tokens


def test_without_conversations_every_request_is_one_turn_without_a_pause():
    made = draws(prompt_tokens=12, output_tokens=34)
    assert {made.turns(i) for i in range(100)} == {1}
    assert made.request(BLOCK + 3) == (12, 34, None, 0)
    assert made.pause_ns(7) == 0


def test_each_turn_of_a_conversation_draws_its_own_lengths():
    made = draws(**TALK)
    long = next(i for i in range(100) if made.turns(i) >= 8)
    assert len({made.request(long, turn).output_tokens for turn in range(made.turns(long))}) > 4


def test_conversations_of_many_turns_come_in_smaller_blocks():
    made = draws(conversation={"turns": 1000})
    assert made.size == 4
    assert len(made.block(0).prompt_tokens) == 4000
    assert draws(conversation={"turns": 1_000_000}).size == 1


def test_shared_prefixes_have_the_asked_share_and_equally_likely_groups():
    made = draws(prefix={"tokens": 100, "share": 0.25, "groups": 4})
    groups = np.concatenate([made.block(k).prefix_group for k in range(10)])
    n = len(groups)
    assert abs((groups != NO_GROUP).mean() - 0.25) < 3 * (0.25 * 0.75 / n) ** 0.5
    for group in range(4):
        assert abs((groups == group).mean() - 1 / 16) < 3 * (1 / 16 * 15 / 16 / n) ** 0.5
    assert made.request(int(np.flatnonzero(groups == NO_GROUP)[0])).prefix_group is None


@pytest.mark.parametrize(
    ("think", "mean_s", "sd_s"),
    [
        (UniformPause(low=1, high=3), 2, 3**-0.5),
        (ExponentialPause(mean=5), 5, 5),
        (LogNormalPause(median=2, sigma=0.5), 2 * np.exp(0.125), 2.27 * 0.533),
        (1.5, 1.5, 0),
    ],
)
def test_pauses_have_the_asked_mean(think, mean_s, sd_s):
    drawn = pauses_s(think, np.random.default_rng(1), 100_000)
    assert drawn.min() >= 0
    assert drawn.mean() == pytest.approx(mean_s, abs=3 * sd_s / 100_000**0.5 + 1e-12)


def test_lengths_may_come_from_a_file(tmp_path):
    (tmp_path / "lengths.txt").write_text("7\n11\n")
    made = draws(prompt_tokens={"kind": "file", "path": str(tmp_path / "lengths.txt")})
    assert {made.request(i).prompt_tokens for i in range(50)} == {7, 11}


def test_a_file_that_is_not_there_is_said_before_anything_is_drawn(tmp_path):
    with pytest.raises(PlanError, match="cannot be read"):
        draws(output_tokens={"kind": "file", "path": str(tmp_path / "none.txt")})
