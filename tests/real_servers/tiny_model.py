"""A small random Llama as a GGUF file in a second: what it says is noise, how it streams is real.

22 million weights, so that one thread makes a token in some milliseconds: a pace at which a load
generator can be exact, and not so slow that a test would wait.

Byte-level BPE over 256 bytes, three control tokens and a few hundred words, so that llama.cpp
tokenizes English prompts into words and random output into text (often with broken UTF-8, which is
a true source of "one event, several tokens").
"""

import pydoc_data.topics
import re
from collections import Counter
from pathlib import Path

import gguf
import numpy as np

from loadgen.prompts.words import WORDS as PROMPT_WORDS

END, TURN, END_TURN = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
CONTROL = (END, TURN, END_TURN)
CHAT_TEMPLATE = (
    "{%- for message in messages %}"
    "{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"
)
DIM, LAYERS, HEADS, KV_HEADS, FFN, CONTEXT = 512, 8, 8, 4, 1024, 2048
WORDS = 1_000


def byte_letters() -> list[str]:
    """The 256 printable letters byte-level BPE writes bytes as, indexed by byte (GPT-2's table)."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {byte: chr(byte) for byte in printable}
    rest = (byte for byte in range(256) if byte not in letters)
    letters |= {byte: chr(256 + i) for i, byte in enumerate(rest)}
    return [letters[byte] for byte in range(256)]


def vocabulary() -> tuple[list[str], list[str]]:
    """Tokens and merges: common English words are built letter by letter, each prefix a token.

    The words of our prompts are among them, as in every tokenizer trained on English.
    """
    english = " ".join([*pydoc_data.topics.topics.values(), *PROMPT_WORDS * 100])
    counts = Counter(re.findall(r" [a-z]{2,12}", english))
    space = byte_letters()[ord(" ")]
    tokens = dict.fromkeys([*CONTROL, *byte_letters()])
    merges: dict[str, None] = {}
    for word, _ in counts.most_common(WORDS):
        for cut in range(1, len(word)):
            left, letter = word[:cut].replace(" ", space), word[cut]
            merges[f"{left} {letter}"] = tokens[left + letter] = None
    return list(tokens), list(merges)


def write_tiny_model(path: Path, seed: int = 1) -> None:
    """Writes the model's GGUF file; the same seed gives the same weights."""
    tokens, merges = vocabulary()
    writer = gguf.GGUFWriter(path, "llama")
    _write_shape(writer, len(tokens))
    _write_tokenizer(writer, tokens, merges)
    for name, weights in random_weights(len(tokens), np.random.default_rng(seed)).items():
        writer.add_tensor(name, weights)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def random_weights(n_vocab: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Tensors by their llama.cpp names; matrices are f16, norms f32 of ones."""
    kv_dim = KV_HEADS * DIM // HEADS
    matrices = {"token_embd": (n_vocab, DIM, 1.0), "output": (n_vocab, DIM, 0.1)}
    norms = ["output_norm"]
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        matrices |= {
            block + "attn_q": (DIM, DIM, 0.05),
            block + "attn_k": (kv_dim, DIM, 0.05),
            block + "attn_v": (kv_dim, DIM, 0.05),
            block + "attn_output": (DIM, DIM, 0.05),
            block + "ffn_gate": (FFN, DIM, 0.05),
            block + "ffn_up": (FFN, DIM, 0.05),
            block + "ffn_down": (DIM, FFN, 0.05),
        }
        norms += [block + "attn_norm", block + "ffn_norm"]
    weights = {
        f"{name}.weight": rng.normal(0, std, (rows, columns)).astype(np.float16)
        for name, (rows, columns, std) in matrices.items()
    }
    return weights | {f"{name}.weight": np.ones(DIM, np.float32) for name in norms}


def _write_shape(writer: gguf.GGUFWriter, n_vocab: int) -> None:
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(DIM)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FFN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_dimension_count(DIM // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(n_vocab)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)


def _write_tokenizer(writer: gguf.GGUFWriter, tokens: list[str], merges: list[str]) -> None:
    kinds = [gguf.TokenType.CONTROL if t in CONTROL else gguf.TokenType.NORMAL for t in tokens]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges(merges)
    writer.add_bos_token_id(tokens.index(END))
    writer.add_eos_token_id(tokens.index(END_TURN))
    writer.add_pad_token_id(tokens.index(END))
    writer.add_add_bos_token(False)
    writer.add_chat_template(CHAT_TEMPLATE)
