"""A file's messages and a conversation's history in the words of each API."""

import orjson
import pytest

from loadgen.planned import PlannedRequest
from loadgen.wire.messages import IMAGE_MARK, TAKES_IMAGES
from loadgen.wire.registry import APIS

PNG = "iVBORw0KGgo="
IMAGE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello"},
    {"role": "user", "content": "Bye"},
]
LOOK = [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, IMAGE]}]


def body(api, messages=None, **fields):
    planned = PlannedRequest(
        request_id=0,
        stage=0,
        due_ns=None,
        prompt="the prompt",
        prompt_tokens=2,
        max_tokens=8,
        ignore_eos=False,
        messages=messages,
        **fields,
    )
    return orjson.loads(APIS[api].body(planned, "m", {}))


def test_chats_send_the_history_as_it_is():
    assert body("openai_chat", TALK)["messages"] == TALK
    assert body("ollama_chat", TALK)["messages"] == TALK
    assert body("openai_responses", TALK)["input"] == TALK


def test_anthropics_system_is_no_message():
    sent = body("anthropic_messages", TALK)
    assert sent["system"] == "Be brief."
    assert sent["messages"] == TALK[1:]
    assert "system" not in body("anthropic_messages")


TEXTS = {
    "openai_completions": lambda sent: sent["prompt"],
    "ollama_generate": lambda sent: sent["prompt"],
    "llamacpp": lambda sent: sent["prompt"],
    "tgi": lambda sent: sent["inputs"],
    "openai_embeddings": lambda sent: sent["input"],
}


@pytest.mark.parametrize("api", TEXTS)
def test_an_api_without_messages_gets_one_text_that_each_turn_continues(api):
    read = TEXTS[api]
    assert read(body(api, TALK)) == "Be brief.\n\nHi\n\nHello\n\nBye"
    assert read(body(api, TALK)).startswith(read(body(api, TALK[:3])))
    assert read(body(api)) == "the prompt"


@pytest.mark.parametrize("api", APIS)
def test_without_messages_the_prompt_is_what_the_user_says(api):
    assert "the prompt" in orjson.dumps(body(api)).decode()
    with_text = [{"role": "user", "content": [{"type": "text", "text": "the parts' text"}]}]
    assert "the parts' text" in orjson.dumps(body(api, with_text)).decode()


def test_an_image_is_a_part_of_a_chats_message():
    assert body("openai_chat", LOOK)["messages"] == LOOK
    (said,) = body("openai_responses", LOOK)["input"]
    assert said["content"] == [
        {"type": "input_text", "text": "What is it?"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
    ]
    (said,) = body("anthropic_messages", LOOK)["messages"]
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    assert said["content"][1] == {"type": "image", "source": source}
    (said,) = body("ollama_chat", LOOK)["messages"]
    assert (said["content"], said["images"]) == ("What is it?", [PNG])


def test_an_image_behind_a_url_and_one_in_the_apis_own_form_pass_too():
    far = [{"role": "user", "content": [{"type": "image_url", "image_url": "http://h/i.png"}]}]
    (said,) = body("anthropic_messages", far)["messages"]
    source = {"type": "url", "url": "http://h/i.png"}
    assert said["content"] == [{"type": "image", "source": source}]
    own = [{"role": "user", "content": [{"type": "image", "source": {"type": "file"}}]}]
    assert body("anthropic_messages", own)["messages"] == own


def test_images_are_known_in_a_files_json_and_their_name_in_a_text_is_none():
    assert IMAGE_MARK.search(orjson.dumps(LOOK))
    assert IMAGE_MARK.search(b'{"type": "image", "source": 1}')
    assert not IMAGE_MARK.search(orjson.dumps({"text": '"type":"image"'}))
    assert set(TAKES_IMAGES) <= APIS.keys()
