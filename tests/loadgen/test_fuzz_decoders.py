"""Nothing that a server can send breaks a decoder: each API, a few hundred answers of any kind.

The same for longer: HEADWAY_FUZZ_S=300 python -m pytest tests/loadgen/test_fuzz_decoders.py
"""

import os
import time
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from fuzzing import (
    CAUSES,
    bent_documents,
    bent_events,
    bent_streams,
    check_answer,
    check_document,
    check_event,
    cuts,
    reads_of,
)
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from loadgen.wire.registry import APIS

LONG_S = float(os.environ.get("HEADWAY_FUZZ_S", "0"))
HANG_MS = 10_000
"""An example that takes longer is a hang: what is slow takes 10 ms."""


def an_answer(api: str) -> Callable[[], None]:
    @given(st.data(), st.sampled_from(CAUSES))
    def test(data: st.DataObject, cause: str) -> None:
        stream = data.draw(bent_streams(api))
        check_answer(api, reads_of(stream, data.draw(cuts(len(stream)))), cause)

    return test


def an_event(api: str) -> Callable[[], None]:
    @given(bent_events(api))
    def test(event: Any) -> None:
        check_event(api, event)

    return test


def a_document(api: str) -> Callable[[], None]:
    @given(bent_documents(api))
    def test(document: Any) -> None:
        if isinstance(document, dict):
            check_document(api, document)

    return test


MADE = {"answer": an_answer, "event": an_event, "document": a_document}


def fuzz(test: Callable[[], None], n: int, number: int | None = None) -> None:
    """Try n examples: always the same ones, or those of a number, not made shorter."""
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large]
    phases = (
        [Phase.generate] if number is not None else [Phase.explicit, Phase.generate, Phase.shrink]
    )
    limits = settings(
        max_examples=n,
        deadline=HANG_MS,
        suppress_health_check=quiet,
        database=None,
        derandomize=number is None,
        phases=phases,
    )
    (limits(test) if number is None else seed(number)(limits(test)))()


@pytest.mark.parametrize("what", MADE)
@pytest.mark.parametrize("api", APIS)
def test_no_bytes_break_a_decoder(api: str, what: str):
    fuzz(MADE[what](api), 10)


@pytest.mark.skipif(not LONG_S, reason="HEADWAY_FUZZ_S is not set")
@pytest.mark.timeout(LONG_S + 1800)
def test_no_bytes_break_a_decoder_for_long():
    end_s = time.monotonic() + LONG_S
    left = [(api, what) for api in APIS for what in MADE]
    found: list[Exception] = []
    for number in count():
        for api, what in list(left):
            if time.monotonic() > end_s:
                break
            try:
                fuzz(MADE[what](api), 200, number)
            except Exception as error:
                error.add_note(f"{api}, {what}")
                found.append(error)
                left.remove((api, what))
        if time.monotonic() > end_s or not left:
            break
    if found:
        raise ExceptionGroup("some bytes broke a decoder", found)
