"""`serve` stays on this machine unless told otherwise, and says whose port is taken."""

import socket

import pytest
from click.testing import CliRunner

from cli import main
from commands.serve import is_loopback


@pytest.mark.parametrize(
    ("host", "answer"),
    [
        ("127.0.0.1", True),
        ("localhost", True),
        ("::1", True),
        ("0.0.0.0", False),
        ("192.168.1.5", False),
        ("example.org", False),
    ],
)
def test_only_this_machine_counts_as_loopback(host, answer):
    assert is_loopback(host) is answer


def test_a_wider_address_must_be_meant():
    result = CliRunner().invoke(main, ["serve", "--host", "0.0.0.0"])
    assert result.exit_code == 2
    assert "--no-auth" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["serve", "simulate"])
def test_a_taken_port_is_named_with_what_to_do(command):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = CliRunner().invoke(main, [command, "--port", str(port)])
    assert result.exit_code == 2
    assert f"Port {port} on 127.0.0.1 cannot be had" in result.stderr
    assert f"headway {command} --port {port + 1}" in result.stderr
    assert result.stderr.count("\n") == 1


def test_an_address_this_machine_does_not_have_is_named():
    result = CliRunner().invoke(main, ["serve", "--host", "192.0.2.1", "--no-auth"])
    assert result.exit_code == 2
    assert "192.0.2.1" in result.stderr


def test_a_data_folder_that_cannot_be_written_is_named(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("HEADWAY_DATA", str(tmp_path / "file" / "data"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    result = CliRunner().invoke(main, ["serve", "--port", str(port)])
    assert result.exit_code == 2
    assert f"{tmp_path / 'file' / 'data'} cannot be written" in result.stderr
    assert "HEADWAY_DATA" in result.stderr
