"""A dashboard of its own for each test, and Debian's chromium in front of it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Page, TimeoutError, sync_playwright

from tests.run_headway import end_store

PROJECT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# On a deep link Streamlit's own script looks for the server below the page's path first.
PROBES = ("/_stcore/health", "/_stcore/host-config")


class Dashboard:
    """The server process on one data folder; may be killed and started again on its port."""

    def __init__(self, data: Path) -> None:
        self.data = data
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        flags = [f"--server.port={self.port}", "--server.headless=true"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", str(PROJECT / "app.py"), *flags],
            cwd=PROJECT,
            env={**os.environ, "HEADWAY_DATA": str(self.data)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with suppress(OSError), urllib.request.urlopen(f"{self.url}/healthz", timeout=2):
                return
            time.sleep(0.1)
        raise AssertionError("the dashboard did not start within 60 s")

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait(10)

    def end(self) -> None:
        """Ends the server, the runs it started and the store."""
        assert self.process is not None
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        for proc in self.data.glob("runs/*/proc.json"):
            _end_group(json.loads(proc.read_bytes()))
        end_store(self.data)


def _end_group(proc: dict) -> None:
    with suppress(psutil.NoSuchProcess, ProcessLookupError):
        if psutil.Process(proc["pid"]).create_time() == proc["create_time"]:
            os.killpg(proc["pgid"], signal.SIGKILL)


@pytest.fixture
def dashboard(tmp_path):
    dashboard = Dashboard(tmp_path / "data")
    dashboard.start()
    yield dashboard
    dashboard.end()


@pytest.fixture(scope="module")
def browser():
    """Not for the whole session: playwright keeps an event loop, and then no other may run."""
    if CHROMIUM is None:
        pytest.skip("no chromium is installed (apt-get install chromium)")
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


class Tab:
    """A browser tab that keeps what no page may do: foreign requests, errors, failed loads."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.faults: list[str] = []
        page.set_default_timeout(30_000)
        page.on("request", lambda r: self._check(r.url))
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("response", lambda r: self._check_status(r.status, r.url))

    def open(self, path: str) -> None:
        self.page.goto(self.url + path)
        self.settle()

    def settle(self) -> None:
        """Until the page's script has run."""
        self.page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")

    def text(self) -> str:
        return self.page.inner_text("[data-testid=stMain]")

    def wait_for(self, text: str, timeout_s: float = 30) -> None:
        try:
            self.page.get_by_text(text).first.wait_for(timeout=timeout_s * 1000)
        except TimeoutError:
            raise AssertionError(f"no {text!r} within {timeout_s} s in: {self.text()}") from None

    def _check(self, url: str) -> None:
        if not url.startswith((self.url, self.url.replace("http", "ws"), "data:", "blob:")):
            self.faults.append(f"foreign request: {url}")

    def _check_status(self, status: int, url: str) -> None:
        if status >= 400 and not url.endswith(PROBES):
            self.faults.append(f"{status} {url}")


@pytest.fixture
def new_tab(browser, dashboard):
    """new_tab(): a tab in a fresh browser profile; none of them may have misbehaved at the end."""
    tabs: list[Tab] = []
    contexts = []

    def new_tab(**options) -> Tab:
        context = browser.new_context(viewport={"width": 1440, "height": 1000}, **options)
        contexts.append(context)
        tabs.append(Tab(context.new_page(), dashboard.url))
        return tabs[-1]

    yield new_tab
    for context in contexts:
        context.close()
    assert [fault for tab in tabs for fault in tab.faults] == []
