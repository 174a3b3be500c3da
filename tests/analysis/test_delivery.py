"""Tokens delivered in batches are told apart from a client that read late."""

import pytest
from made import SECOND, UID, Made, back_to_back, stage

from analysis.delivery import Delivery, sentence
from analysis.show import show


def shown_after(change: str, **rows):
    made = Made(back_to_back(30, **rows), [stage(0, "c=1", 0, 9 * SECOND)])
    made.cursor.execute(f"UPDATE token_events SET {change}")
    return show(made.ask, UID)["levels"][0]


def test_tokens_that_come_one_by_one_are_not_batched():
    level = shown_after("lag_us = lag_us")
    assert level["delivery"] == {"together_share": 0.0, "codings": [], "batched": False}
    assert not any("batches" in said for said in level["warnings"])


def test_tokens_that_arrive_together_though_read_in_time_are_batched():
    level = shown_after("gap_us = CASE WHEN seq % 5 = 0 THEN gap_us ELSE 7 END WHERE seq > 0")
    assert level["delivery"]["batched"]
    assert level["delivery"]["together_share"] == pytest.approx(8 / 9, rel=0.01)
    assert any("89% of the tokens arrived together" in said for said in level["warnings"])


def test_tokens_that_a_late_client_read_together_say_nothing_about_delivery():
    level = shown_after("gap_us = 0, lag_us = 30000 WHERE seq > 0")
    assert level["delivery"] == {"together_share": None, "codings": [], "batched": False}


def test_a_compressed_answer_is_named_as_the_likely_reason():
    level = shown_after("gap_us = 0 WHERE seq > 0", coding="gzip")
    assert level["delivery"]["codings"] == ["gzip"]
    said = next(said for said in level["warnings"] if "batches" in said)
    assert said.startswith("Answers came compressed (gzip). Delivered in batches by compression")


def test_a_compressed_answer_that_still_flows_is_only_mentioned():
    assert sentence(Delivery(0.1, ["br"])) == (
        "Answers came compressed (br). A compressed stream may arrive in batches."
    )
    assert sentence(Delivery(0.5, [])) == ""
