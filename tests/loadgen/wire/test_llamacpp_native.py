"""llama.cpp's own /completion: what each event means."""

from typing import Any

import pytest
from wire_events import one, whole

from loadgen.wire.api import Delta, ServerTimings, UsageCount
from loadgen.wire.framing import ProtocolError

TIMINGS = {"cache_n": 2, "prompt_n": 1, "prompt_ms": 2.996, "predicted_n": 8}
TIMINGS |= {"predicted_ms": 4.369}


def event(content: str, **more: Any) -> dict[str, Any]:
    return {"index": 0, "content": content, "tokens": [7], "stop": False, "id_slot": -1, **more}


def test_an_event_tells_its_text_and_the_counts_so_far():
    delta = one("llamacpp", event("A", tokens_predicted=1, tokens_evaluated=3))
    assert delta == Delta("content", "A", usage=UsageCount(3, 1))


def test_token_ids_count_where_no_counter_does():
    assert one("llamacpp", event("AB", tokens=[7, 8])).n_tokens == 2
    assert one("llamacpp", event("A", tokens=[8], tokens_predicted=3)).n_tokens == 0


def test_progress_of_the_prompt_is_no_token():
    progress = {"total": 702, "cache": 0, "processed": 702, "time_ms": 301}
    told = {"tokens": [0], "tokens_predicted": 0, "tokens_evaluated": 702}
    delta = one("llamacpp", event("", prompt_progress=progress, **told))
    assert delta == Delta("empty", usage=UsageCount(702, 0))
    assert one("llamacpp", event("", tokens=[0], prompt_progress=progress)).n_tokens == 0


def test_choices_are_kept_apart_by_their_index():
    assert one("llamacpp", event("A", index=1)).choice == 1


@pytest.mark.parametrize(
    ("word", "ours"), [("limit", "length"), ("eos", "stop"), ("word", "stop"), ("new", "new")]
)
def test_the_last_event_tells_counts_times_and_why(word: str, ours: str):
    told = {"tokens_predicted": 8, "tokens_evaluated": 3, "timings": TIMINGS}
    delta = one("llamacpp", event("", stop=True, stop_type=word, tokens=[], **told))
    assert (delta.kind, delta.finish_reason) == ("finish", ours)
    assert delta.usage == UsageCount(3, 8, cached_tokens=2)
    assert delta.timings == ServerTimings(None, 2_996, 4_369)


def test_a_stop_without_a_reason_ends_all_the_same():
    assert one("llamacpp", event("", stop=True, stop_type="none", tokens=[])) == Delta("done")


def test_a_list_of_stop_words_is_no_stop():
    assert one("llamacpp", event("", stop=["x"], tokens=[])) == Delta("empty")


def test_an_error_object_in_a_200_is_an_error():
    error = {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}
    delta = one("llamacpp", {"error": error})
    assert (delta.error, delta.error_code) == (error["message"], 500)


def test_a_whole_answer_is_one_text_with_its_end():
    told = {"tokens_predicted": 8, "tokens_evaluated": 3, "timings": TIMINGS}
    document = event("eight tokens", tokens=[], stop=True, stop_type="limit", **told)
    (delta,) = whole("llamacpp", document)
    assert (delta.kind, delta.text, delta.finish_reason) == ("content", "eight tokens", "length")
    assert delta.usage == UsageCount(3, 8, 2)


def test_a_whole_answer_without_content_is_none():
    with pytest.raises(ProtocolError, match="no content"):
        whole("llamacpp", {"stop": True})
