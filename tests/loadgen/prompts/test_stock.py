"""Synthetic prompts have exactly the asked number of tokens, whatever the tokenizer."""

import json

import pytest
from made_counters import Local, Remote
from made_tokenizers import MADE

from loadgen.prompts.counting import CannotCount, WordCounter
from loadgen.prompts.stock import Stock, make_stock
from loadgen.prompts.synthetic import Numbering

LENGTHS = [*range(1, 30), 255, 256, 257, 1_000]
NUMBER, PREFIX, BLOCK = (Numbering(kind, 0, 0) for kind in ("prompt", "prefix", "block"))
# Where each text is a request nobody can look at every pair of neighbours.
ONE_BY_ONE = [name for name in MADE if name != "superwords"]


def off_by(stock, name, lengths=LENGTHS):
    """Counted minus asked, of prompts of these lengths, with and without a shared prefix."""
    synthetic = stock.synthetic("run 1")
    texts = [synthetic.text(NUMBER(i), n) for i, n in enumerate(lengths)]
    shared = [
        synthetic.with_prefix((PREFIX(i % 3), 64), NUMBER(i), n) for i, n in enumerate(lengths)
    ]
    blocks = [((BLOCK(i % 2), 32), (BLOCK(2), 16)) for i in range(len(lengths))]
    traced = [
        synthetic.of_blocks(b, NUMBER(i), n)
        for b, (i, n) in zip(blocks, enumerate(lengths), strict=True)
    ]
    count = Local(MADE[name]()).count_all
    return {
        *(n - a for n, a in zip(count(texts), lengths, strict=True)),
        *(n - a for n, a in zip(count(shared), lengths, strict=True)),
        *(n - a - 48 for n, a in zip(count(traced), lengths, strict=True)),
    }


@pytest.mark.parametrize("name", MADE)
def test_with_a_tokenizer_at_hand_every_prompt_is_exact(name):
    stock = make_stock(Local(MADE[name]()), seed=1)
    assert stock.facts.off == (0, 0)
    assert stock.facts.note is None
    assert off_by(stock, name) == {0}
    assert off_by(stock, name, [70_000]) == {0}


@pytest.mark.parametrize("most_texts", [40, 200])
@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_a_server_is_asked_a_few_times_and_its_template_is_not_the_prompts(name, most_texts):
    counter = Remote(MADE[name](), most_texts)
    stock = make_stock(counter, seed=1, lengths=[256])
    assert counter.n_asked <= most_texts
    assert (stock.facts.off, stock.pieces.constant) == ((0, 0), Remote.template)
    assert off_by(stock, name) == {0}


def test_a_counter_that_prompts_cannot_be_cut_for_says_how_far_off():
    stock = make_stock(Remote(MADE["superwords"](), 200), seed=1, lengths=[256])
    least, most = stock.facts.off
    assert least == most != 0
    assert stock.facts.note == (
        f"Prompts cannot be cut to the token with the server: of 1 checked ones some differ by "
        f"{least:+d} tokens from the length asked for."
    )


def test_words_are_taken_for_tokens_where_nobody_counts_and_it_is_said():
    stock = make_stock(WordCounter(), seed=1)
    assert stock.facts.counted_by == "words"
    assert "each word of a prompt is taken for one token" in (stock.facts.note or "")
    assert len(stock.synthetic("x").text(NUMBER(5), 256).split()) == 256


def test_a_tokenizer_that_knows_no_word_is_refused():
    class Mute(Local):
        def count_all(self, texts):
            return [0] * len(texts)

    with pytest.raises(CannotCount, match="the tokenizer counts 0 tokens in 'a'"):
        make_stock(Mute(MADE["bytes_only"]()), seed=1)


def test_a_stock_written_down_cuts_the_same_prompts():
    stock = make_stock(Local(MADE["few_merges"]()), seed=1)
    again = Stock.from_json(json.loads(json.dumps(stock.to_json())))
    assert again.facts == stock.facts
    for i in range(20):
        n = NUMBER(i)
        assert again.synthetic("x").text(n, 100 + i) == stock.synthetic("x").text(n, 100 + i)
