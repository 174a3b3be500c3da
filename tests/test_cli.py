"""The command line is a contract: its commands, and that the documents name each word of it."""

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cli import COMMANDS as COMMAND_NAMES
from cli import main
from loadgen.plan import load

PROJECT = Path(__file__).resolve().parents[1]
DOCS = "".join(
    (PROJECT / name).read_text()
    for name in (
        "README.md",
        "docs/run-a-test.md",
        "docs/several-machines.md",
        "docs/export.md",
        "docs/storage.md",
        "docs/dialects.md",
    )
)
COMMANDS = sorted(COMMAND_NAMES)


def test_the_commands_are_those_of_the_contract():
    contract = "db doctor export import quick run serve show simulate worker"
    assert contract.split() == COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_and_option_is_in_the_documents(name):
    assert f"headway {name}" in DOCS
    for parameter in main.get_command(click.Context(main), name).params:
        for option in parameter.opts:
            if option.startswith("--"):
                assert option in DOCS, f"{name} {option}"


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_explains_itself(name):
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0
    assert result.output.startswith("Usage: ")


def test_the_example_plan_of_the_documents_is_valid():
    plan = load(PROJECT / "docs" / "example.toml")
    assert [stage.name for stage in plan.stages] == ["c=4", "2/s"]


@pytest.mark.slow
def test_a_command_that_asks_nothing_loads_nothing_heavy():
    heavy = "{'duckdb', 'pandas', 'plotly', 'streamlit', 'gevent', 'locust', 'scipy'}"
    code = f"import sys, cli; print({heavy} & set(sys.modules))"
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert said.stdout == "set()\n"
