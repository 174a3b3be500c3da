"""A form fills in the bytes that the API itself would have written, whatever is asked."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.body_form import BodyForm
from loadgen.planned import PlannedRequest
from loadgen.wire.registry import APIS

EXTRAS = (
    {},
    {"temperature": 0.5, "stop": "100%", "ignore_eos": None},
    {"max_tokens": 918_273_645, "note": "headway-prompt-of-a-form"},  # as the form's own marks
)


def planned(prompt, max_tokens=8, **more):
    base = {"request_id": 1, "stage": 0, "due_ns": None, "prompt_tokens": 3, "ignore_eos": True}
    return PlannedRequest(**{**base, "prompt": prompt, "max_tokens": max_tokens, **more})


@pytest.mark.parametrize("api", APIS.values(), ids=APIS)
@settings(max_examples=25)
@given(
    prompts=st.lists(
        st.tuples(st.text(max_size=20), st.integers(1, 10**9)), min_size=2, max_size=4
    ),
    extra=st.sampled_from(EXTRAS),
    is_streamed=st.booleans(),
    ignore_eos=st.booleans(),
    inputs=st.integers(1, 3),
)
def test_every_body_is_the_apis_own(api, prompts, extra, is_streamed, ignore_eos, inputs):
    form = BodyForm(api, "model %s", extra)
    kind = {"is_streamed": is_streamed, "ignore_eos": ignore_eos, "inputs": inputs}
    for prompt, max_tokens in prompts:
        request = planned(prompt, max_tokens, **kind)
        assert form.body(request) == api.body(request, "model %s", extra)


def test_requests_of_two_kinds_have_two_forms():
    api = APIS["openai_chat"]
    form = BodyForm(api, "m", {})
    for is_streamed in (True, False, True):
        request = planned("one two", is_streamed=is_streamed)
        assert form.body(request) == api.body(request, "m", {})


def test_a_request_with_messages_is_written_by_the_api():
    api = APIS["openai_chat"]
    form = BodyForm(api, "m", {})
    form.body(planned("one"))
    request = planned("two", messages=[{"role": "user", "content": "three"}])
    assert form.body(request) == api.body(request, "m", {})
