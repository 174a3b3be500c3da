"""A file with images is refused before the load where its API cannot take them."""

import orjson
import pytest

from loadgen.images import unfit_images
from loadgen.plan import parse
from loadgen.prompts.material import FOLDER

LOOK = {"m": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}
TALK = {"t": ['say "type":"image"'], "n": [3], "o": [None]}


def told(tmp_path, api, *lines):
    place = tmp_path / FOLDER
    place.mkdir()
    (place / "prompts-0.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    plan = parse(
        {
            "target": {"url": "http://h", "model": "m", "api": api},
            "workload": {"file": {"path": "prompts.jsonl"}},
            "stages": [{"concurrency": 1, "requests": 1}],
        }
    )
    return unfit_images(plan, tmp_path)


@pytest.mark.parametrize("api", ["openai_chat", "anthropic_messages", "ollama_chat"])
def test_a_chat_takes_images(tmp_path, api):
    assert told(tmp_path, api, TALK, LOOK) is None


@pytest.mark.parametrize("api", ["openai_completions", "tgi", "llamacpp", "ollama_generate"])
def test_an_api_for_plain_text_is_named_with_the_field(tmp_path, api):
    sentence = told(tmp_path, api, TALK, LOOK)
    assert sentence.startswith(f"workload.file holds messages with images, which {api} cannot take")
    assert sentence.endswith("expected one of openai_chat, openai_responses, anthropic_messages, "
                             "ollama_chat.")  # fmt: skip


@pytest.mark.parametrize("lines", [(), (TALK,)])
def test_words_about_images_are_none(tmp_path, lines):
    assert told(tmp_path, "tgi", *lines) is None
