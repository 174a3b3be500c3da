"""Prompts kept for a run are read back one by one, whatever their number and size."""

import tracemalloc

import pytest

from loadgen.prompts.entries import Entry
from loadgen.prompts.file_stock import FileStock, Written, write_stock


def words(texts):
    return [len(text.split()) for text in texts]


def test_texts_messages_and_turns_come_back_as_they_were(tmp_path):
    messages = [{"role": "user", "content": "a b\nc 日本"}]
    entries = [
        Entry(("one two",), outputs=(5,)),
        Entry(messages=messages),
        Entry(("a", "b c"), outputs=("x y z", None)),
    ]
    assert write_stock(tmp_path, "p", entries, words, 100) == Written(3, is_cut=False)
    stock = FileStock(tmp_path, "p")
    assert len(stock) == 3
    assert stock.prompt(0) == ("one two", None, 2, 5)
    assert stock.prompt(1) == ("", messages, 4, None)
    assert stock.prompt(2) == ("a", None, 1, 3)
    assert stock.prompt(2, 1) == ("b c", None, 2, None)
    assert stock.prompt(2, 2) == stock.prompt(2, 0)
    assert stock.turns.tolist() == [1, 1, 2]


def test_what_nobody_counts_is_unknown_and_not_zero(tmp_path):
    write_stock(tmp_path, "p", [Entry(("one two",), outputs=("x y",))], None, 100)
    assert FileStock(tmp_path, "p").prompt(0) == ("one two", None, None, None)


@pytest.mark.parametrize(("most", "is_cut"), [(299, True), (300, False), (301, False)])
def test_more_prompts_than_wanted_are_not_read(tmp_path, most, is_cut):
    entries = (Entry((f"prompt {i}",)) for i in range(300))
    assert write_stock(tmp_path, "p", entries, words, most) == Written(min(most, 300), is_cut)
    assert FileStock(tmp_path, "p").prompt(most - 2).text == f"prompt {most - 2}"


def test_huge_files_are_written_and_read_in_little_memory(tmp_path):
    text = "x" * 100_000
    entries = (Entry((f"{i} {text}",)) for i in range(500))  # 50 MB
    tracemalloc.start()
    write_stock(tmp_path, "p", entries, lambda texts: [1] * len(texts), 1_000)
    stock = FileStock(tmp_path, "p")
    assert [stock.prompt(i).text.split()[0] for i in (0, 499)] == ["0", "499"]
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()
