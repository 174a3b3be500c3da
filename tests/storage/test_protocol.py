"""Questions and answers survive the way over the socket; a refusal is a sentence."""

import numpy as np
import pyarrow as pa
import pytest

from storage.protocol import (
    MAX_QUESTION_BYTES,
    Mistake,
    StoreError,
    answer,
    question,
    read_answer,
    read_question,
    refusal,
)


def test_a_question_arrives_with_its_arguments_also_numpy_ones():
    raw = question("gap_quantiles", {"stage": np.int64(3), "qs": (0.5, 0.99), "run": "u"})
    expected = ("gap_quantiles", {"stage": 3, "qs": [0.5, 0.99], "run": "u"})
    assert read_question(raw) == expected


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"ask": 1, "args": {}}', b'{"ask": "runs"}'])
def test_what_is_no_question_is_refused(raw):
    with pytest.raises(StoreError):
        read_question(raw)


def test_a_frame_arrives_as_it_was():
    frame = pa.table({"a": pa.array([1, None, 3]), "b": ["x", "é", None], "c": [[1.0], [], None]})
    assert read_answer(answer(frame)).equals(frame)


def test_a_mistake_arrives_as_one():
    with pytest.raises(Mistake, match="there already"):
        read_answer(refusal("It is there already.", is_mistake=True))


def test_a_question_beyond_what_the_store_takes_is_refused_where_it_is_asked():
    with pytest.raises(Mistake, match="longer than 20,000 characters; ask in smaller pieces"):
        question("sql", {"text": "x" * MAX_QUESTION_BYTES})
    with pytest.raises(Mistake, match="'runs' is longer than 1,048,576 bytes"):
        question("runs", {"text": "x" * MAX_QUESTION_BYTES})


def test_a_refusal_arrives_as_its_sentence():
    with pytest.raises(StoreError, match=r"There is no run 'é'\."):
        read_answer(refusal("There is no run 'é'."))
