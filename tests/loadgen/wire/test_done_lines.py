"""The last bytes of a stream that is over, though its connection stays open."""

import pytest

from loadgen.wire.registry import APIS

TAIL_BYTES = 64
DONE = b"data: [DONE]\n\n"
OLLAMA = b'"prompt_eval_duration":383809000,"eval_count":298,"eval_duration":4799921000}\n'
TGI = (
    b'"details":{"finish_reason":"length","generated_tokens":20,"seed":null,"input_length":7}}\n\n'
)


def is_done(api: str, stream: bytes) -> bool:
    """As the last bytes tell, the chunk's own line end included."""
    pattern = APIS[api].done_line
    assert pattern is not None
    return pattern.search((stream + b"\r\n")[-TAIL_BYTES:]) is not None


@pytest.mark.parametrize(
    ("api", "stream"),
    [
        ("openai_chat", b'data: {"choices":[]}\n\n' + DONE),
        ("openai_completions", b'data: {"choices":[]}\n\n' + DONE),
        ("openai_responses", b'data: {"type":"x"}\n\n' + DONE),
        ("openai_responses", b'"sequence_number":19,"type":"response.completed"}\n\n'),
        ("openai_responses", b'"sequence_number": 9, "type": "response.failed"}\n\n'),
        ("anthropic_messages", b'event: message_stop\ndata: {"type":"message_stop"}\n\n'),
        ("anthropic_messages", b'event: message_stop\ndata: {"type": "message_stop"}\n\n'),
        ("anthropic_messages", b'event: message_stop\r\ndata: {"type":"message_stop"  }\r\n\r\n'),
        ("ollama_chat", OLLAMA),
        ("ollama_generate", OLLAMA),
        ("ollama_generate", b'{"model":"m","response":"","done_reason":"load","done":true}\n'),
        ("tgi", TGI),
        ("tgi", b'"generated_tokens":4096,"seed":18446744073709551615}}\n\n'),
    ],
)
def test_the_end_of_a_stream_is_known_by_its_last_bytes(api: str, stream: bytes):
    assert is_done(api, b"x" * 100 + stream)


@pytest.mark.parametrize(
    ("api", "stream"),
    [
        ("openai_chat", b'data: {"choices":[{"delta":{"content":"data: [DONE]"}}]}\n\n'),
        ("openai_responses", b'"delta":"x","type":"response.output_text.delta"}\n\n'),
        ("openai_responses", rb'"delta":",\"type\":\"response.completed\"}' b'"}\n\n'),
        ("anthropic_messages", rb'"text":"data: {\"type\":\"message_stop\"}' b'"}}\n\n'),
        ("anthropic_messages", b'data: {"type":"content_block_stop","index":0}\n\n'),
        ("ollama_chat", b'"message":{"role":"assistant","content":"A"},"done":false}\n'),
        ("ollama_chat", rb'"response":",\"eval_duration\":1}' b'","done":false}\n'),
        ("tgi", b'"special":false},"generated_text":null,"details":null}\n\n'),
        ("tgi", rb'"token":{"text":",\"seed\":null}}' b'"}}\n\n'),
    ],
)
def test_a_stream_that_goes_on_is_not_taken_for_one_that_ended(api: str, stream: bytes):
    assert not is_done(api, b"x" * 100 + stream)


def test_the_last_bytes_of_llama_cpp_do_not_tell_the_end_and_embeddings_have_none():
    assert APIS["llamacpp"].done_line is None
    assert APIS["openai_embeddings"].done_line is None
