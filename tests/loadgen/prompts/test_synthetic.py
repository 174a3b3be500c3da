"""Prompts differ where a cache would see it, and agree where a plan wants them to."""

from itertools import combinations, pairwise, takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_counters import Local
from made_tokenizers import MADE

from loadgen.prompts.counting import WordCounter
from loadgen.prompts.heads import NUMBERS, first_number
from loadgen.prompts.stock import make_stock
from loadgen.prompts.synthetic import Numbering

WORDS = make_stock(WordCounter(), seed=1)
RUN, OTHER_RUN = WORDS.synthetic("run 1"), WORDS.synthetic("run 2")
PROMPT, PREFIX = Numbering("prompt", 0, 0), Numbering("prefix", 0, 0)


def shared_words(a: str, b: str) -> int:
    pairs = zip(a.split(), b.split(), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


@given(st.integers(0, 2**33 - 1), st.integers(0, 2**33 - 1), st.integers(9, 300))
def test_no_two_prompts_of_a_level_have_the_same_first_tokens(i, j, n_tokens):
    a, b = (RUN.text(PROMPT(k), n_tokens).split()[:9] for k in (i, j))
    assert (a == b) == (i == j)


def test_prompts_that_follow_each_other_differ_from_the_first_token_on():
    said = [RUN.text(PROMPT(i), 64).split()[0] for i in range(2_000)]
    assert all(a != b for a, b in pairwise(said))


def test_levels_and_classes_have_prompts_of_their_own():
    numbers = [Numbering("prompt", level, traffic) for level in range(30) for traffic in range(5)]
    texts = [RUN.text(number(i), 64) for number in numbers for i in range(50)]
    assert len({" ".join(text.split()[:9]) for text in texts}) == len(texts)


def test_numbers_of_32_768_slots_never_meet_within_eight_billion_requests():
    firsts = sorted(first_number(slot) for slot in range(2**15))
    gaps = [b - a for a, b in pairwise([*firsts, firsts[0] + NUMBERS])]
    assert min(gaps) > 2**33


def test_a_second_run_finds_nothing_of_the_first_in_the_cache():
    before = [RUN.text(PROMPT(i), 64) for i in range(200)]
    after = [OTHER_RUN.text(PROMPT(i), 64) for i in range(200)]
    assert max(shared_words(a, b) for a in before for b in after) < 8
    prefixes = [run.with_prefix((PREFIX(0), 40), PROMPT(0), 64) for run in (RUN, OTHER_RUN)]
    assert shared_words(*prefixes) < 8


def test_the_same_salt_gives_the_same_prompts_in_every_worker():
    again = make_stock(WordCounter(), seed=1).synthetic("run 1")
    assert [again.text(PROMPT(i), 50) for i in range(50)] == [
        RUN.text(PROMPT(i), 50) for i in range(50)
    ]


def test_prompts_of_a_group_share_its_prefix_and_not_a_token_more():
    texts = [RUN.with_prefix((PREFIX(0), 40), PROMPT(i), 64) for i in range(100)]
    assert {shared_words(a, b) for a, b in pairwise(texts)} == {40}
    assert min(shared_words(a, b) for a, b in combinations(texts, 2)) == 40


def test_groups_differ_from_their_first_tokens_on():
    texts = [RUN.with_prefix((PREFIX(g), 40), PROMPT(0), 64) for g in range(200)]
    assert max(shared_words(a, b) for a, b in combinations(texts, 2)) < 8


def test_a_prompt_no_longer_than_its_prefix_is_the_begin_of_it():
    whole = RUN.with_prefix((PREFIX(0), 40), PROMPT(0), 64).split()
    for n in (1, 7, 39, 40):
        assert RUN.with_prefix((PREFIX(0), 40), PROMPT(0), n).split() == whole[:n]


def test_traced_prompts_share_exactly_the_leading_blocks_they_have_in_common():
    block = Numbering("block", 0, 0)
    ids = [(1, 2, 3), (1, 2, 4), (1, 5, 3)]
    a, b, c = (
        RUN.of_blocks([(block(k), 16) for k in row], PROMPT(i), 10) for i, row in enumerate(ids)
    )
    assert 32 <= shared_words(a, b) < 40
    assert 16 <= shared_words(a, c) < 24
    assert [len(text.split()) for text in (a, b, c)] == [58, 58, 58]


@pytest.mark.parametrize("name", ["bytes_only", "few_merges", "tiny_unigram"])
def test_a_tiny_vocabulary_has_prompts_of_their_own_too(name):
    run = make_stock(Local(MADE[name]()), seed=1).synthetic("x")
    assert len({run.text(PROMPT(i), 100) for i in range(5_000)}) == 5_000


def test_a_prompt_longer_than_the_pool_goes_round():
    assert len(RUN.text(PROMPT(3), 1_000_000).split()) == 1_000_000
