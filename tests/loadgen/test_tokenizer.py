"""Tokens of a text by the model's tokenizer, wherever that lies."""

import http.server
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tokenizers_made import save_tokenizer

from loadgen.tokenizer import TokenizerError, load

PROJECT = Path(__file__).resolve().parents[2]
TEN = "one two three four five six seven eight nine ten"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return save_tokenizer(tmp_path / "tokenizer.json")


def test_a_text_is_counted_without_special_tokens_cutting_or_padding(file: Path):
    assert load(str(file)).count(TEN) == 10


def test_a_void_text_has_no_token(file: Path):
    assert load(str(file)).count("") == 0


def test_many_texts_are_counted_at_once_in_their_order(file: Path):
    assert load(str(file)).count_all([TEN, "", "a b", "日本 [BOS] x"]) == [10, 0, 2, 3]
    assert load(str(file)).count_all([]) == []


def test_a_folder_stands_for_the_file_in_it(file: Path):
    assert load(str(file.parent)).count("a b") == 2


@pytest.mark.parametrize("name", ["/no/such/tokenizer.json", "./gpt2", "gpt2.json", "a/b/c"])
def test_a_path_that_is_not_there_is_never_asked_of_the_hub(name: str):
    with pytest.raises(TokenizerError, match=r"^There is no tokenizer .* Give a tokenizer\.json"):
        load(name)


def test_a_folder_without_a_tokenizer_is_named(tmp_path: Path):
    with pytest.raises(TokenizerError, match=r"holds no tokenizer\.json"):
        load(str(tmp_path))


def test_a_file_that_is_no_tokenizer_says_so(tmp_path: Path):
    path = tmp_path / "odd.json"
    path.write_text('{"model": 5}')
    with pytest.raises(TokenizerError, match=r"cannot be read: .*\. Give a tokenizer\.json"):
        load(str(path))


def count_elsewhere(name: str, cache: Path, **environment: str) -> str:
    """In a process of its own: the hub's library reads its variables when it is imported."""
    code = (
        "import sys\n"
        "from loadgen.tokenizer import TokenizerError, load\n"
        "try: print(load(sys.argv[1]).count(sys.argv[2]))\n"
        "except TokenizerError as error: print(error)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, name, TEN],
        cwd=PROJECT,
        env={**os.environ, "HF_HOME": str(cache), **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    return run.stdout.strip()


class Hub(http.server.BaseHTTPRequestHandler):
    """The two requests by which a file is had from a hub."""

    content = b""

    def do_HEAD(self) -> None:
        is_known = self.path.split("?")[0] == "/owner/model/resolve/main/tokenizer.json"
        self.send_response(200 if is_known else 404)
        if not is_known:
            self.send_header("X-Error-Code", "RepoNotFound")
        self.send_header("ETag", '"0123456789abcdef"')
        self.send_header("X-Repo-Commit", "0123456789012345678901234567890123456789")
        self.send_header("Content-Length", str(len(self.content) if is_known else 0))
        self.end_headers()

    def do_GET(self) -> None:
        self.do_HEAD()
        self.wfile.write(self.content)

    def log_message(self, format: str, *args: object) -> None:
        del format, args


@pytest.mark.slow
def test_a_hub_name_is_had_from_the_hub_and_afterwards_from_its_cache(file: Path, tmp_path: Path):
    Hub.content = file.read_bytes()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    hub = {"HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "HF_HUB_DISABLE_XET": "1"}
    hub |= {"HF_HUB_DISABLE_TELEMETRY": "1"}
    try:
        assert count_elsewhere("owner/model", tmp_path / "cache", **hub) == "10"
        assert "cannot be had from the hub" in count_elsewhere("owner/other", tmp_path, **hub)
    finally:
        server.shutdown()
        server.server_close()
    offline = {"HF_HUB_OFFLINE": "1"}
    assert count_elsewhere("owner/model", tmp_path / "cache", **offline) == "10"
    unknown = count_elsewhere("owner/other", tmp_path / "cache", **offline)
    assert unknown.startswith("The tokenizer owner/other cannot be had from the hub (HF_ENDPOINT, ")
