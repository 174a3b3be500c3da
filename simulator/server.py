"""The simulated server: an LLM endpoint over HTTP, driven by the engine in real time.

    python -m simulator.server --port 8100 --profile small-gpu [--truth FILE] [--set KEY=VALUE]…

As a vLLM server does, it answers the head of a stream at once, the role event with the first token.
"""

import asyncio
import gc
import os
import signal
import socket
import sys

from aiohttp import web

from simulator.options import Options, parse_options
from simulator.profiles import SettingError
from simulator.routes import Routes
from simulator.service import Service, SetUp, set_up

IDLE_S = 3600.0  # a load generator opens connections long before it uses them
BACKLOG = 4096  # hundreds of streams may connect at the same instant
GOODBYE_S = 0.2
AFTER_PARENT_S = 2.0


async def serve(options: Options, ready: SetUp) -> int:
    """Serve until SIGTERM, SIGINT or, if asked for, the parent's end; returns the exit code."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    service = Service(ready)
    runner = web.AppRunner(
        Routes(service, ready.api_key).application(),
        handler_cancellation=True,
        access_log=None,
        keepalive_timeout=IDLE_S,
        shutdown_timeout=GOODBYE_S,
    )
    await runner.setup()
    site = web.TCPSite(runner, options.host, options.port, backlog=BACKLOG)
    try:
        await site.start()
    except OSError as error:
        await runner.cleanup()
        service.close()
        return _complain(_cannot_listen(options, error))
    sys.stdout.write(f"headway-simulator listening on http://{options.host}:{site.port}\n")
    sys.stdout.write(f"model: {service.model}\n")
    sys.stdout.flush()
    chores = asyncio.create_task(_chores(service, stop, options.has_parent))
    # A full collection over aiohttp's own objects takes longer than a step; they stay anyway.
    gc.collect()
    gc.freeze()
    await stop.wait()
    chores.cancel()
    await runner.cleanup()
    service.close()
    if service.truth_error is not None:
        return _complain(f"The truth log is incomplete: {service.truth_error.strerror}.")
    return 0


def run(options: Options) -> int:
    """Serve until told to stop; exit code 0, or 2 after one sentence on stderr."""
    try:
        ready = set_up(options)
    except SettingError as error:
        return _complain(str(error))
    return asyncio.run(serve(options, ready))


async def _chores(service: Service, stop: asyncio.Event, has_parent: bool) -> None:
    """Each half second: write the truth log, and stop if the parent is gone."""
    # Not PR_SET_PDEATHSIG: it fires when the THREAD that started us ends, as a web page's may.
    parent = os.getppid()
    while True:
        await asyncio.sleep(0.5)
        service.flush_truth()
        if has_parent and os.getppid() != parent:
            # Its other children load us: they end first, or their streams would look cut by us.
            await asyncio.sleep(AFTER_PARENT_S)
            stop.set()


def _cannot_listen(options: Options, error: OSError) -> str:
    if isinstance(error, socket.gaierror) or error.errno is None:
        why = error.strerror or str(error)
    else:
        why = os.strerror(error.errno)
    where = f"{options.host}:{options.port}"
    return f"Cannot listen on {where}: {why}. Choose another --port (0 = any free one) or --host."


def _complain(sentence: str) -> int:
    sys.stderr.write(f"headway-simulator: {sentence}\n")
    return 2


if __name__ == "__main__":
    sys.exit(run(parse_options(sys.argv[1:])))
