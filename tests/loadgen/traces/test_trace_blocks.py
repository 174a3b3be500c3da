"""Prefix blocks: equal ids are equal 512-token pieces of the prompts that have them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from loadgen.traces.blocks import (
    BLOCK_TOKENS,
    BlocksPrompt,
    blocks_of,
    blocks_prompt,
    joined,
    renumbered,
)

ids = st.lists(st.integers(0, 2**62), max_size=6)


def test_whole_blocks_come_before_a_last_one_that_ends_with_the_prompt():
    assert blocks_prompt([46, 47], 655) == BlocksPrompt(((46, 512), (47, 143)), 0)
    assert blocks_prompt([46], 512) == BlocksPrompt(((46, 512),), 0)


def test_tokens_beyond_the_blocks_are_a_rest_of_the_prompt_s_own():
    assert blocks_prompt([46], 655) == BlocksPrompt(((46, 512),), 143)
    assert blocks_prompt([], 20) == BlocksPrompt((), 20)


def test_ids_beyond_the_prompt_s_end_are_left_out():
    assert blocks_prompt([46, 47, 48], 600) == BlocksPrompt(((46, 512), (47, 88)), 0)
    assert blocks_prompt([46, 47], 512) == BlocksPrompt(((46, 512),), 0)


@given(ids, st.integers(1, 4000))
def test_pieces_and_rest_make_the_whole_prompt_in_the_blocks_order(hash_ids, input_length):
    prompt = blocks_prompt(hash_ids, input_length)
    sizes = [n for _, n in prompt.pieces]
    assert sum(sizes) + prompt.rest_tokens == input_length
    assert all(n == BLOCK_TOKENS for n in sizes[:-1])
    assert all(1 <= n <= BLOCK_TOKENS for n in sizes)
    assert [block for block, _ in prompt.pieces] == hash_ids[: len(sizes)]


@given(ids, ids, st.integers(1, 4000), st.integers(1, 4000))
def test_two_prompts_share_exactly_the_leading_blocks_with_equal_ids(first, second, n, m):
    one, other = blocks_prompt(first, n).pieces, blocks_prompt(second, m).pieces
    for (a, n_a), (b, n_b) in zip(one[:-1], other[:-1], strict=False):
        assert ((a, n_a) == (b, n_b)) == (a == b)


@given(st.lists(ids, min_size=1, max_size=8), st.data())
def test_rows_may_be_taken_in_any_order_and_several_times(lists, data):
    rows = data.draw(st.lists(st.integers(0, len(lists) - 1), max_size=12))
    taken = blocks_of(lists).take(np.array(rows, np.int64))
    assert [taken.of(i) for i in range(len(taken))] == [tuple(lists[row]) for row in rows]


@given(st.lists(ids, max_size=5), st.lists(ids, max_size=5))
def test_joined_parts_have_the_rows_of_each(first, second):
    both = joined([blocks_of(first), blocks_of(second)])
    assert [both.of(i) for i in range(len(both))] == [tuple(row) for row in first + second]


@given(st.lists(ids, max_size=6) | st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=6))
def test_renumbering_keeps_which_blocks_are_equal(lists):
    old, new = blocks_of(lists), renumbered(blocks_of(lists))
    pairs = set(zip(old.ids.tolist(), new.ids.tolist(), strict=True))
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
    assert {b for _, b in pairs} == set(range(len(pairs)))
