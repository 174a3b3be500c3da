"""Asked and counted prompt tokens side by side: as asked, a template more, or off."""

import numpy as np
import pandas as pd
import pytest

from analysis.prompt_lengths import prompt_lengths, sentence


def frame(asked, counted, **more):
    return pd.DataFrame({"prompt_tokens_planned": asked, "prompt_tokens": counted, **more})


def said(asked, counted, overhead=None, **more):
    lengths = prompt_lengths(frame(asked, counted, **more), overhead)
    assert lengths is not None
    return sentence(lengths)


@pytest.mark.parametrize(
    ("asked", "counted", "overhead", "expected"),
    [
        ([256] * 3, [256] * 3, None, "asked 256, counted 256 on every request."),
        ([256] * 3, [256] * 3, 0, "asked 256, counted 256 on every request."),
        (
            [256] * 3,
            [268] * 3,
            12,
            "asked 256, counted 268 on every request: 12 tokens of chat template.",
        ),
        ([7], [8], 1, "asked 7, counted 8 on every request: 1 token of chat template."),
        (
            [256] * 3,
            [268] * 3,
            None,
            "asked 256, counted 268 on every request: 12 tokens of chat template or special "
            "tokens.",
        ),
        (
            [256] * 3,
            [268] * 3,
            9,
            "asked 256, counted 268 on every request, of which 9 tokens were expected as the chat "
            "template's.",
        ),
        ([256] * 3, [250] * 3, None, "asked 256, counted 250 on every request."),
        ([100, 200], [100, 200], None, "counted as asked on every request."),
        (
            [100, 200],
            [112, 212],
            12,
            "counted 12 more than asked on every request: 12 tokens of chat template.",
        ),
        (
            [100] * 50,
            [112] * 48 + [109, 117],
            12,
            "what the server counted differs from what was asked by -3 to +5 tokens in 4% of "
            "requests, 12 tokens of chat template left out.",
        ),
        (
            [100] * 4,
            [101, 102, 103, 104],
            None,
            "what the server counted differs from what was asked by +1 to +4 tokens in all "
            "requests.",
        ),
        (
            [100] * 1_000,
            [100] * 999 + [101],
            0,
            "what the server counted differs from what was asked by +0 to +1 tokens in 0.1% of "
            "requests.",
        ),
    ],
)
def test_the_sentence_says_what_was_asked_and_what_was_counted(asked, counted, overhead, expected):
    assert said(asked, counted, overhead) == f"Prompt tokens: {expected}"


def test_only_prompts_with_the_usual_overhead_alone_are_as_asked():
    for counted, overhead, is_so in [(256, None, True), (268, 12, True), (268, None, False)]:
        lengths = prompt_lengths(frame([256] * 2, [counted] * 2), overhead)
        assert lengths is not None
        assert lengths.is_as_asked is is_so
    mixed = prompt_lengths(frame([256] * 2, [256, 257]))
    assert mixed is not None
    assert not mixed.is_as_asked


def test_requests_that_do_not_know_both_numbers_do_not_count():
    lengths = prompt_lengths(frame([256, None, 256], [256, 256, None]))
    assert lengths is not None
    assert lengths.n == 1
    assert prompt_lengths(frame([None], [5])) is None
    assert prompt_lengths(frame([5], [np.nan])) is None
    assert prompt_lengths(pd.DataFrame()) is None


def test_later_turns_hold_what_was_said_before_and_are_left_out():
    assert said([10, 10, 10], [10, 90, 170], turn=[0, 1, 2]).startswith(
        "Prompt tokens: asked 10, counted 10"
    )
    assert said([10, 10], [10, 10], turn=[None, None]).startswith("Prompt tokens: asked 10")
