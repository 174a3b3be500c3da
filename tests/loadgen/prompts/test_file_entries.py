"""Prompt files: what is read from each format, and the sentence where it is unclear or broken."""

import json

import pytest

from loadgen.plan_parts import PlanError
from loadgen.plan_workload import PromptFile
from loadgen.prompts.file_entries import file_entries


@pytest.fixture
def write(tmp_path):
    def write(content: str | bytes, **fields):
        path = tmp_path / "prompts"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return PromptFile(path=str(path), **fields)

    return write


def read(file, skipped=None):
    skipped = [] if skipped is None else skipped
    return list(file_entries(file, lambda where, why: skipped.append((where, why))))


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
SEEN = [{"role": "user", "content": [{"type": "text", "text": "What is this?"}, PICTURE]}]


@pytest.mark.parametrize(
    "content",
    [
        lines({"prompt": "Hi", "output_tokens": 7, "id": "x"}, {"prompt": "日本 🙂"}),
        "\ufeffprompt,output_tokens,id\r\nHi,7,x\r\n日本 🙂,,y\r\n",
        json.dumps([{"prompt": "Hi", "output_tokens": 7}, {"prompt": "日本 🙂"}]),
        lines({"text": "Hi", "max_tokens": 7.0, "id": "x"}, {"text": "日本 🙂"}),
        'question\n"Hi"\n日本 🙂\n'.replace('"Hi"', "Hi"),
    ],
)
def test_the_prompts_column_is_found_by_its_name(write, content):
    entries = read(write(content))
    assert [entry.turns for entry in entries] == [("Hi",), ("日本 🙂",)]
    assert entries[0].outputs in ((7,), (None,))
    assert entries[1].outputs == (None,)


def test_messages_are_passed_on_with_their_pictures_and_only_their_text_is_counted(write):
    [entry] = read(write(lines({"messages": SEEN})))
    assert entry.messages == SEEN
    assert entry.texts() == ["What is this?"]


def test_columns_of_other_names_are_named_by_the_plan(write):
    file = write("wish,len,prompt\nHi,7,no\n", prompt_column="wish", output_column="len")
    [entry] = read(file)
    assert (entry.turns, entry.outputs) == (("Hi",), (7,))


def test_an_answer_given_as_text_is_kept_to_be_counted(write):
    file = write(lines({"prompt": "Hi", "answer": "Hello there"}), output_column="answer")
    assert read(file)[0].outputs == ("Hello there",)


def test_a_length_in_a_table_with_gaps_is_a_number_still(write):
    """Where one cell is void, pandas writes 128.0 for 128 in the others."""
    file = write("prompt,max_tokens\nx,128.0\ny,\nz, 7 \n")
    assert [entry.outputs for entry in read(file)] == [(128,), (None,), (7,)]


@pytest.mark.parametrize(
    ("content", "fields", "said"),
    [
        (lines({"a": "x", "b": "y"}), {}, "has the columns a, b; name the one with the prompt as"),
        (
            lines({"prompt": "x", "messages": SEEN}),
            {},
            "has the columns prompt, messages, of which prompt and messages may be the prompt",
        ),
        (lines({"text": "x", "input": "y"}), {}, "of which text and input may be the prompt"),
        (lines({"prompt": "x"}), {"prompt_column": "q"}, "has no column 'q'; it has prompt"),
        (lines({"prompt": "x"}), {"output_column": "q"}, "has no column 'q'; it has prompt"),
        (
            lines({"prompt": "x", "max_tokens": 1, "output_len": 2}),
            {},
            "has the columns max_tokens and output_len; name the one with the answer's length",
        ),
        ("", {}, "holds no prompts"),
        ("prompt\n", {}, "holds no prompts"),
        ("[]", {}, "holds no prompts"),
        (lines({"prompt": "x"}, {"prompt": ""}), {}, "line 2 has a void prompt"),
        (lines({"prompt": "x"}, {"other": ""}), {}, "line 2 has no 'prompt'"),
        (lines({"prompt": 5}), {}, "line 1 has a prompt that is a int; expected a text"),
        (lines({"messages": [{"content": "x"}]}), {}, r"has messages\[0\] without a role"),
        (
            lines({"messages": [{"role": "user", "content": 5}]}),
            {},
            r"messages\[0\].content that is neither a text nor a list",
        ),
        ("prompt,max_tokens\nx,-3\n", {}, "line 2 has '-3' as its answer's length"),
        ("prompt,max_tokens\nx,1.5\n", {}, "line 2 has '1.5' as its answer's length"),
        (
            lines({"prompt": "x", "max_tokens": -1}),
            {},
            "has '-1' as its answer's length; expected a number from 1",
        ),
        (b'{"prompt": "\xff"}\n', {}, "line 1 is not UTF-8"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(write, content, fields, said):
    with pytest.raises(PlanError, match=said) as error:
        read(write(content, **fields))
    assert all(problem.startswith("workload.file: ") for problem in error.value.problems)


def test_five_bad_rows_are_named_with_their_lines_and_no_more(write):
    content = lines({"prompt": "x"}) + "{bad\n" * 9
    with pytest.raises(PlanError) as error:
        read(write(content))
    assert [p.split("prompts, ")[-1].split(" is")[0] for p in error.value.problems[:5]] == [
        f"line {n}" for n in range(2, 7)
    ]
    assert "may be more" in error.value.problems[5]
    assert len(error.value.problems) == 6


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    for path, said in ((tmp_path / "no", "No such file"), (tmp_path, "is a folder")):
        with pytest.raises(PlanError, match=said):
            read(PromptFile(path=str(path)))


def talk(*said):
    return {"id": "1", "conversations": [{"from": who, "value": text} for who, text in said]}


def test_a_sharegpt_conversation_is_its_human_turns_with_the_answers_to_each(write):
    rows = [
        talk(("human", "One?"), ("gpt", "Yes."), ("human", "Two?"), ("gpt", "No.")),
        talk(
            ("system", "Be kind."),
            ("gpt", "Hello"),
            ("user", "A?"),
            ("assistant", "B"),
            ("human", "C?"),
        ),
    ]
    for content in (json.dumps(rows), lines(*rows)):
        first, second = read(write(content))
        assert (first.turns, first.outputs) == (("One?", "Two?"), ("Yes.", "No."))
        assert (second.turns, second.outputs) == (("A?", "C?"), ("B", None))


def test_broken_conversations_are_skipped_and_told_of(write):
    skipped: list[tuple[str, str]] = []
    rows = [
        talk(("human", "One?"), ("gpt", "Yes.")),
        {"conversations": []},
        talk(("gpt", "Hello")),
        talk(("human", "a"), ("human", "b")),
        talk(("human", "")),
        {"conversations": [{"from": "human"}]},
        {"id": 5},
        talk(("human", "Two?")),
    ]
    entries = read(write(json.dumps(rows)), skipped)
    assert [entry.turns for entry in entries] == [("One?",), ("Two?",)]
    assert [where.split(", ")[-1] for where, _ in skipped] == [f"item {n}" for n in range(2, 8)]
    assert {why for _, why in skipped} == {
        "has no turn of a human",
        "has turns that do not alternate between human and gpt",
        "has a void turn",
        "has no conversations",
    }
