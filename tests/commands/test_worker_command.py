"""`headway worker` refuses what it cannot trust before it opens a socket."""

import pytest
from click.testing import CliRunner

from commands.worker import worker


@pytest.mark.parametrize("master", ["192.0.2.7:5557", "leader.example:5557", "[2001:db8::1]:5557"])
def test_a_leader_on_another_machine_needs_a_secret(master):
    found = CliRunner().invoke(worker, ["--master", master], env={"HEADWAY_SECRET": ""})
    assert found.exit_code == 2
    assert "no secret is set" in found.output


def test_an_address_that_is_none_is_told():
    found = CliRunner().invoke(worker, ["--master", "nowhere"], env={"HEADWAY_SECRET": ""})
    assert found.exit_code == 2
    assert "is not HOST:PORT" in found.output


def test_a_named_variable_that_is_not_set_is_told():
    words = ["--master", "127.0.0.1:5557", "--secret-env", "NOT_SET_ANYWHERE"]
    found = CliRunner().invoke(worker, words)
    assert found.exit_code == 2
    assert "NOT_SET_ANYWHERE" in found.output
