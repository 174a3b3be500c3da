"""Arrivals of several parts become one schedule, and one schedule becomes shares of workers."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.arrival_rows import ClassDeal, Rows, dealt, first_requests, merged

numbers = st.lists(st.integers(0, 100), max_size=20, unique=True)


def rows(due_ns, traffic=0, turns=1):
    n = len(due_ns)
    columns = np.array(due_ns), np.full(n, traffic), np.arange(n), np.full(n, turns)
    return Rows(*(np.asarray(column, np.int64) for column in columns))


def blocks(due_ns, cuts, traffic=0):
    """One stream in blocks that end at `cuts`; as with our own streams, none is void."""
    whole = rows(sorted(due_ns), traffic)
    edges = [0, *sorted(c % (len(due_ns) + 1) for c in cuts), len(due_ns)]
    pieces = [whole.take(slice(a, b)) for a, b in pairwise(edges)]
    return [piece for piece in pieces if len(piece)]


def listed(stream):
    return [(int(d), int(t)) for r in stream for d, t in zip(r.due_ns, r.traffic, strict=True)]


@given(st.lists(st.tuples(numbers, numbers), max_size=5))
def test_merging_sorts_all_streams_wherever_their_blocks_are_cut(streams):
    made = [blocks(due, cuts, k) for k, (due, cuts) in enumerate(streams)]
    merged_rows = listed(merged([iter(stream) for stream in made], until_first_ends=False))
    assert merged_rows == sorted((d, k) for k, (due, _) in enumerate(streams) for d in due)


@given(numbers, st.lists(st.tuples(numbers, numbers), max_size=4))
def test_own_arrivals_end_with_the_first_stream(first, others):
    made = [blocks(first, []), *(blocks(due, cuts, 1) for due, cuts in others)]
    merged_rows = listed(merged([iter(stream) for stream in made], until_first_ends=True))
    assert [d for d, k in merged_rows if k == 0] == sorted(first)
    asked = sorted(d for due, _ in others for d in due if first and d <= max(first))
    assert [d for d, k in merged_rows if k == 1] == asked


@given(numbers, numbers, st.integers(1, 7))
def test_workers_shares_partition_the_rows_wherever_blocks_are_cut(due, cuts, n_workers):
    whole = [index for r in blocks(due, []) for index in r.index]
    shares = [
        [index for r in dealt(iter(blocks(due, cuts)), k, n_workers) for index in r.index]
        for k in range(n_workers)
    ]
    assert shares == [whole[k::n_workers] for k in range(n_workers)]


@given(
    st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=9), max_size=9), st.integers(1, 99)
)
def test_a_number_of_requests_counts_every_turn_and_cuts_the_last_conversation(turns, requests):
    made = []
    for block in turns:
        one = rows(range(len(block)))
        one.turns[:] = block
        made.append(one)
    kept = [int(t) for r in first_requests(iter(made), requests) for t in r.turns]
    flat = [t for block in turns for t in block]
    assert sum(kept) == min(requests, sum(flat))
    assert kept[:-1] == flat[: max(0, len(kept) - 1)]


def test_without_a_number_every_row_is_kept():
    assert len(listed(first_requests(iter([rows([1, 2]), rows([3])]), None))) == 3


def test_classes_get_their_shares_and_count_their_own_arrivals():
    deal = ClassDeal([0, 2, 5], [3, 1, 1], np.random.default_rng(4))
    n = 20_000
    halves = deal.deal(n // 2), deal.deal(n // 2)
    traffic, index = (np.concatenate(c) for c in zip(*halves, strict=True))
    for k, share in ((0, 0.6), (2, 0.2), (5, 0.2)):
        mine = traffic == k
        assert abs(mine.mean() - share) < 3 * (share * (1 - share) / n) ** 0.5
        assert index[mine].tolist() == list(range(mine.sum()))


def test_one_class_alone_asks_for_no_chance():
    rng = np.random.default_rng(1)
    ClassDeal([3], [1], rng).deal(10)
    assert rng.random() == pytest.approx(np.random.default_rng(1).random())
