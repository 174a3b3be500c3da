"""What leaves a command as an error: its exit code, and a sentence that cannot drive a terminal."""

import click
import pytest
from click.testing import CliRunner

from commands.amounts import count, size
from commands.refusal import HeadwayGroup, Refusal
from storage.protocol import Mistake, StoreError


def left_by(error, name="x"):
    """What a command that raises the error leaves with."""

    @click.group(cls=HeadwayGroup)
    def group():
        pass

    @group.command(name)
    def command():
        raise error

    return CliRunner().invoke(group, [name])


@pytest.mark.parametrize(
    ("error", "code"),
    [(Mistake("It is there."), 2), (StoreError("It failed."), 3), (Refusal("No."), 2)],
)
def test_a_mistake_of_the_user_is_2_and_a_failure_3(error, code):
    left = left_by(error)
    assert left.exit_code == code
    assert left.stderr == f"{error}\n" or isinstance(error, Refusal)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("export", "Stopped; nothing was written."),
        ("import", "Stopped; the runs named above are imported."),
        ("show", "Stopped."),
    ],
)
def test_ctrl_c_is_130_and_says_what_became_of_it(name, said):
    left = left_by(KeyboardInterrupt(), name)
    assert left.exit_code == 130
    assert left.stderr == f"\n{said}\n"


def test_a_sentence_keeps_its_lines_and_loses_what_is_no_text():
    left = left_by(Refusal("one\x1b[2J\ntwo" + "x" * 9000))
    first, second = left.stderr.splitlines()
    assert first == "one\\x1b[2J"
    assert len(second) < 4100


@pytest.mark.parametrize(
    ("n_bytes", "said"),
    [(0, "0 bytes"), (1, "1 byte"), (12_345, "12.3 kB"), (2e6, "2.0 MB"), (5e9, "5.00 GB")],
)
def test_a_size_is_never_nothing_where_there_is_something(n_bytes, said):
    assert size(n_bytes) == said


def test_one_is_not_several():
    assert [count(n, "request") for n in (0, 1, 1200)] == [
        "0 requests",
        "1 request",
        "1,200 requests",
    ]
