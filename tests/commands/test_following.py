"""What a run says of itself reaches the terminal, and an endpoint's words in it do not steer it."""

from commands.measuring import followed
from loadgen.run_folder import RunFolder, runs_folder

HOSTILE = "It failed the first request: \x1b[2J\x1b]0;mine\x07 \u202e \x00 gone."


def status_of(tmp_path, message):
    path = runs_folder(tmp_path) / "run-1"
    path.mkdir(parents=True)
    RunFolder(path).write("status.json", {"state": "failed", "message": message})
    return followed(tmp_path, "run-1")


def test_control_characters_of_an_endpoint_are_shown_as_escapes(tmp_path):
    message = status_of(tmp_path, HOSTILE)["message"]
    assert message.isprintable()
    assert "\\x1b[2J" in message
    assert message.startswith("It failed the first request: ")


def test_a_message_of_ours_is_shown_as_it_is(tmp_path):
    ours = "Answers come in one piece – " + "a sentence. " * 40
    assert status_of(tmp_path, ours)["message"] == ours
