"""The exit code is 0 only for numbers that may be believed and objectives that were met."""

import pytest

from commands.exit_code import exit_code


def document(state="finished", verdict="exact", slo=None, complete=(9, 9)):
    return {
        "run": {"state": state},
        "validity": {"verdict": verdict},
        "slo": {"result": slo},
        "levels": [{"outcomes": {"complete": n} if n else {"http_error": 3}} for n in complete],
    }


@pytest.mark.parametrize(
    ("seen", "code"),
    [
        (document(), 0),
        (document(verdict="bounded", slo="met"), 0),
        (document(slo="missed"), 1),
        (document(slo="not enough data"), 3),
        (document(verdict="saturated", slo="met"), 3),
        (document(verdict="unknown"), 3),
        (document(state="stopped", slo="met"), 3),
        (document(state="failed"), 3),
        (document(complete=(9, 0)), 3),
        (document(complete=()), 3),
    ],
)
def test_each_ending_has_its_code(seen, code):
    assert exit_code(seen) == code


def test_a_probe_without_an_answer_is_how_a_search_finds_the_limit():
    seen = document(slo="met", complete=(9, 0))
    for number, level in enumerate(seen["levels"]):
        level["level"] = number
    assert exit_code(seen) == 3
    assert exit_code({**seen, "search": [{"kind": "search", "levels": [0, 1]}]}) == 0
