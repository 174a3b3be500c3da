"""A tiny tokenizer in which each chunk of the truth server is one token.

Run with a peer's own Python: `ENV/bin/python -m bench.peers.tokenizer FOLDER`.  Peers count tokens
with a tokenizer of the model; the truth server's model has none, so it gets one: all 256 bytes, and
the server's words on top.  Nothing is trained and nothing comes from a hub.
"""

import json
import sys
from pathlib import Path

from bench.truth_script import SCRIPTS

END = "<|end|>"
CHAT_TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
LONGEST_TOKENS = 100_000


def words() -> list[str]:
    """What the truth server says, a word per chunk, read off its own bytes."""
    events = (chunk.split(b"data: ")[1].split(b"\n")[0] for chunk in SCRIPTS["/completions"].tokens)
    return [json.loads(event)["choices"][0]["text"] for event in events]


def write(folder: Path) -> None:
    """Write the files that `AutoTokenizer.from_pretrained(folder)` reads."""
    # Of the peer's environment; the project itself does not have them all.
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    bytes_only = Tokenizer(models.BPE(vocab={a: i for i, a in enumerate(letters)}, merges=[]))
    bytes_only.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_only.decoder = decoders.ByteLevel()
    bytes_only.add_special_tokens([END])
    bytes_only.add_tokens(words())
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bytes_only,
        bos_token=END,
        eos_token=END,
        pad_token=END,
        model_max_length=LONGEST_TOKENS,
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.save_pretrained(str(folder))
    # vLLM looks for a model beside it, and tries again for two seconds if there is none.
    (folder / "config.json").write_text('{"model_type": "llama"}')


if __name__ == "__main__":
    write(Path(sys.argv[1]))
