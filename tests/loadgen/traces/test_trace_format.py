"""The format by a file's first line, and the registry that plans name formats from."""

from pathlib import Path
from typing import get_args

import pytest

from loadgen.plan_stages import Replay
from loadgen.traces.own_columns import IN_MILLISECONDS, IN_SECONDS, OPTIONAL, TOKENS
from loadgen.traces.registry import TRACES, format_of


def test_a_plan_may_name_each_format_that_there_is():
    named = get_args(Replay.model_fields["format"].annotation)
    assert set(named) == {"auto", *TRACES}


@pytest.mark.parametrize(
    ("first", "format_"),
    [
        ("TIMESTAMP,ContextTokens,GeneratedTokens", "azure"),
        ("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type", "burstgpt"),
        ("Log Type,Timestamp,Request tokens,Response tokens,Total tokens,Model", "burstgpt"),
        ('"TIMESTAMP","ContextTokens","GeneratedTokens"', "azure"),
        ('{"timestamp": 0, "input_length": 1, "output_length": 1, "hash_ids": []}', "mooncake"),
        ('{"timestamp": 0, "input_length": 1, "output_length": 1}', "mooncake"),
        ('{"t_s": 0, "prompt_tokens": 1, "output_tokens": 1}', "jsonl"),
        ("t_s;prompt_tokens;output_tokens", "csv"),
        ("\ufeff\n\nt_s,prompt_tokens", "csv"),
        ("anything else", "csv"),
    ],
)
def test_the_first_line_tells_the_format(tmp_path, first, format_):
    path = tmp_path / "trace"
    path.write_text(first + "\n", encoding="utf-8")
    assert format_of(path) == format_


def test_the_docs_name_every_format_and_every_column():
    docs = (Path(__file__).parents[3] / "docs" / "traces.md").read_text()
    columns = [*IN_SECONDS, *IN_MILLISECONDS, *sum((*TOKENS.values(), *OPTIONAL.values()), ())]
    assert [name for name in (*TRACES, *columns) if f"`{name}`" not in docs] == []
