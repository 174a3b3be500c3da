"""Columns that a reading does not ask for are named nowhere above the store."""

import ast
from pathlib import Path

import pytest

from analysis.reading import UNREAD

ROOT = Path(__file__).parents[2]
ABOVE = ("analysis", "charts", "ui", "pages", "commands")
ASK_FOR_THEMSELVES = ("evidence.py",)  # a question of their own brings the columns


@pytest.mark.parametrize("package", ABOVE)
def test_nobody_reads_a_column_that_is_not_asked_for(package):
    for path in (ROOT / package).rglob("*.py"):
        if path.name in ("reading.py", *ASK_FOR_THEMSELVES):
            continue
        words = {n.value for n in ast.walk(ast.parse(path.read_text())) if is_text(n)}
        assert not words & set(UNREAD), f"{path.name} reads it: take it out of reading.UNREAD"


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
