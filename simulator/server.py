"""The simulated server: an OpenAI endpoint over HTTP, driven by the engine in real time.

    python -m simulator.server --port 8100 --profile small-gpu [--truth FILE] [--set KEY=VALUE]…

As a vLLM server does, it answers the head of a stream at once, the role event with the first token.
"""

import asyncio
import gc
import hmac
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable

import orjson
from aiohttp import HttpVersion11, web

from simulator.faulty_stream import FaultyStream
from simulator.openai_request import Api, ApiError
from simulator.options import Options, parse_options
from simulator.profiles import SettingError
from simulator.prometheus import CONTENT_TYPE
from simulator.service import Service, SetUp, set_up
from simulator.token_stream import GatheredAnswer, Job, TokenStream, Wire

MAX_BODY_BYTES = 64 << 20
IDLE_S = 3600.0  # a load generator opens connections long before it uses them
BACKLOG = 4096  # hundreds of streams may connect at the same instant
GOODBYE_S = 0.2

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Routes:
    """HTTP around a Service."""

    def __init__(self, service: Service, api_key: str | None) -> None:
        self._service = service
        self._authorization = f"Bearer {api_key}".encode() if api_key is not None else None

    def application(self) -> web.Application:
        """The aiohttp application."""
        application = web.Application(
            client_max_size=MAX_BODY_BYTES, middlewares=[_fastapi_errors, self._check_key]
        )
        application.add_routes(
            [
                web.post("/v1/chat/completions", self._chat),
                web.post("/v1/completions", self._completions),
                web.get("/v1/models", self._models),
                web.get("/health", self._health),
                web.get("/metrics", self._metrics),
            ]
        )
        return application

    @web.middleware
    async def _check_key(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if self._authorization is not None and request.path.startswith("/v1/"):
            given = request.headers.get("Authorization", "").encode()
            if not hmac.compare_digest(given, self._authorization):
                return _json(401, b'{"error":"Unauthorized"}')
        return await handler(request)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        return await self._answer("chat", request)

    async def _completions(self, request: web.Request) -> web.StreamResponse:
        return await self._answer("completions", request)

    async def _models(self, request: web.Request) -> web.StreamResponse:
        return _json(200, self._service.models())

    async def _health(self, request: web.Request) -> web.StreamResponse:
        return web.Response()

    async def _metrics(self, request: web.Request) -> web.StreamResponse:
        page = self._service.metrics_page()
        return web.Response(body=page, headers={"Content-Type": CONTENT_TYPE})

    async def _answer(self, api: Api, request: web.Request) -> web.StreamResponse:
        arrival = self._service.arrival(request.headers.get("X-Request-Id", ""))
        body = await request.read(), request.headers.get("X-Sim-Fault")
        try:
            job = self._service.accept(arrival, api, body)
        except ApiError as error:
            return _json(error.status, error.body())
        how = "aborted"  # if the client leaves, aiohttp cancels us
        try:
            if job.ask.is_streamed:
                response, how = await self._stream(request, job, arrival.x_request_id)
            else:
                response, how = await self._gather(job), "done"
            return response
        finally:
            self._service.leave(job, how)

    async def _stream(
        self, request: web.Request, job: Job, x_request_id: str
    ) -> tuple[web.StreamResponse, str]:
        response = web.StreamResponse(
            headers={
                "Content-Type": "text/event-stream; charset=utf-8",
                "X-Request-Id": x_request_id,
            }
        )
        is_chunked = request.version >= HttpVersion11
        if is_chunked:
            response.enable_chunked_encoding()
        await response.prepare(request)
        assert request.transport is not None
        wire = Wire(request.transport, is_chunked)
        stream = TokenStream(job, wire)
        fault = job.ask.fault
        self._service.submit(job, FaultyStream(stream, fault) if fault.is_in_stream else stream)
        try:
            return response, await stream.ended
        finally:
            self._service.metrics.totals["buffered_writes"] += wire.buffered_writes

    async def _gather(self, job: Job) -> web.StreamResponse:
        answer = GatheredAnswer(job)
        self._service.submit(job, answer)
        return _json(200, self._service.whole_answer(job, await answer.ended))


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
            stop.set()


@web.middleware
async def _fastapi_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Unknown paths and methods answered as vLLM's web framework does."""
    try:
        return await handler(request)
    except web.HTTPException as error:
        return _json(error.status, orjson.dumps({"detail": error.reason}))


def _json(status: int, body: bytes) -> web.Response:
    return web.Response(status=status, body=body, headers={"Content-Type": "application/json"})


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
