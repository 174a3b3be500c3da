"""llama.cpp's own HTTP server from the xllamacpp wheel, as a process of its own.

python -m tests.real_servers.llamacpp MODEL.gguf PORT [API_KEY]
"""

import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
SLOTS = 4
READY_WITHIN_S = 30


@contextmanager
def llamacpp_server(model: Path, port: int, api_key: str = "") -> Iterator[str]:
    """The server's root URL while it runs with four slots; it is ended afterwards."""
    log = model.with_suffix(".log")
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.real_servers.llamacpp", str(model), str(port), api_key],
            cwd=PROJECT,
            stdout=output,
            stderr=output,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_until_ready(url, process, log)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:  # refused, or 503 while the model loads
            time.sleep(0.05)
    raise AssertionError(f"llama.cpp did not become ready:\n{log.read_text(errors='replace')}")


def main(model: str, port: str, api_key: str = "") -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {"tiny"}
    params.hostnames = ["127.0.0.1"]
    params.port = int(port)
    params.n_parallel = SLOTS
    params.n_ctx = SLOTS * 2048
    # One thread: two make ggml's spin barrier collapse on a busy two-core machine.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.endpoint_metrics = True
    params.use_jinja = True
    params.n_gpu_layers = 0
    params.fit_params = False
    params.ui = False
    if api_key:
        params.api_keys = [api_key]
    server = xllamacpp.Server(params)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    ended.wait()
    del server


if __name__ == "__main__":
    main(*sys.argv[1:])
