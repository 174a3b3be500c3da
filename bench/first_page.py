"""How long after `headway serve` does somebody see a page?"""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Generator
from pathlib import Path

from bench.figures import Figure
from bench.processes import ROOT

LONGEST_S = 30
DRAWN = "[data-testid='stMainBlockContainer'] *"


def first_page(_turn: int) -> list[Figure]:
    """Seconds from the command on an empty data folder to the HTTP answer, and to a drawn page."""
    chromium = shutil.which("chromium")
    found: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="headway-bench-") as folder, _browser(chromium) as page:
        begin_s = time.perf_counter()
        with _dashboard(Path(folder)) as (url, serve):
            _wait_answer(url, serve, Path(folder) / "serve.log")
            answered_s = time.perf_counter() - begin_s
            found.append(Figure("first answer", answered_s, "s", "<= 3"))
            if page is not None:
                page.goto(url)
                page.wait_for_selector(DRAWN, timeout=LONGEST_S * 1000)
                drawn_s = time.perf_counter() - begin_s
                found.append(Figure("first page drawn in chromium", drawn_s, "s", "<= 3"))
    return found


@contextlib.contextmanager
def _dashboard(data: Path) -> Generator[tuple[str, subprocess.Popen[bytes]]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**os.environ, "HEADWAY_DATA": str(data)}
    command = [sys.executable, "-m", "cli", "serve", "--port", str(port)]
    log = (data / "serve.log").open("wb")
    with log, subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log) as serve:
        try:
            yield f"http://127.0.0.1:{port}", serve
        finally:
            serve.terminate()


@contextlib.contextmanager
def _browser(chromium: str | None) -> Generator:
    """A page of a browser that is up already; None where there is no chromium."""
    if chromium is None:
        yield None
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser.new_page()
        browser.close()


def _wait_answer(url: str, serve: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.perf_counter() + LONGEST_S
    while time.perf_counter() < deadline and serve.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5) as answer:
            answer.read()
            return
        time.sleep(0.02)
    raise AssertionError(f"headway serve did not answer on {url}: {log.read_text()[-2000:]}")
