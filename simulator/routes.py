"""HTTP around a Service: which path is whose, keys, streams, codings, closed connections."""

import hmac
from collections.abc import Awaitable, Callable
from functools import partial

import orjson
from aiohttp import HttpVersion11, web

from simulator.api import Api, Job
from simulator.apis import APIS, BY_PATH
from simulator.ask import ApiError
from simulator.faulty_stream import FaultyStream
from simulator.front import encoder
from simulator.openai_answer import CHAT
from simulator.prometheus import CONTENT_TYPE
from simulator.service import Came, Service
from simulator.token_stream import GatheredAnswer, TokenStream
from simulator.wire import Wire

MAX_BODY_BYTES = 64 << 20
LOCKED = ("/v1/", "/api/")  # beside the APIs' own paths: where a key is asked for, if one is set

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Routes:
    """The paths of one server."""

    def __init__(self, service: Service, api_key: str | None) -> None:
        self._service = service
        self._front = service.profile.front
        self._api_key = api_key

    def application(self) -> web.Application:
        """The aiohttp application."""
        application = web.Application(
            client_max_size=MAX_BODY_BYTES, middlewares=[_fastapi_errors, self._check_key]
        )
        service = self._service
        listings: dict[str, Callable[[], bytes]] = {
            "/v1/models": service.models,
            "/api/tags": service.tags,
            "/info": service.info,
        }
        application.add_routes(
            [
                *(
                    web.post(path, partial(self._answer, api))
                    for api in APIS.values()
                    for path in api.paths
                ),
                *(web.get(path, partial(self._list, body)) for path, body in listings.items()),
                web.get("/health", self._health),
                web.get("/metrics", self._metrics),
            ]
        )
        return application

    @web.middleware
    async def _check_key(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        api = BY_PATH.get(request.path)
        is_locked = api is not None or request.path.startswith(LOCKED)
        if self._api_key is not None and is_locked:
            api = api or CHAT
            if not any(self._is_key(request, header) for header in api.key_headers):
                return _refusal(api, ApiError(401, "Invalid API key.", "authentication_error"))
        return await handler(request)

    def _is_key(self, request: web.Request, header: str) -> bool:
        scheme = "Bearer " if header == "Authorization" else ""
        expected = f"{scheme}{self._api_key}".encode()
        return hmac.compare_digest(request.headers.get(header, "").encode(), expected)

    async def _list(self, body: Callable[[], bytes], request: web.Request) -> web.StreamResponse:
        return _json(200, body())

    async def _health(self, request: web.Request) -> web.StreamResponse:
        return web.Response()

    async def _metrics(self, request: web.Request) -> web.StreamResponse:
        page = self._service.metrics_page()
        return web.Response(body=page, headers={"Content-Type": CONTENT_TYPE})

    async def _answer(self, api: Api, request: web.Request) -> web.StreamResponse:
        arrival = self._service.arrival(request.headers.get("X-Request-Id", ""))
        came = Came(request.path, await request.read(), request.headers.get("X-Sim-Fault"))
        try:
            job = self._service.accept(arrival, api, came)
        except ApiError as error:
            return _refusal(api, error)
        how = "aborted"  # if the client leaves, aiohttp cancels us
        try:
            if job.ask.is_streamed:
                response, how = await self._stream(request, job, arrival.x_request_id)
            else:
                response, how = await self._gather(job, arrival.x_request_id), "done"
        finally:
            self._service.leave(job, how)
        if how != "cut":
            await self._maybe_close(request, response, job)
        return response

    async def _stream(
        self, request: web.Request, job: Job, x_request_id: str
    ) -> tuple[web.StreamResponse, str]:
        headers = self._headers(job.api.content_type, x_request_id)
        response = web.StreamResponse(headers=headers)
        is_chunked = request.version >= HttpVersion11
        if is_chunked:
            response.enable_chunked_encoding()
        await response.prepare(request)
        assert request.transport is not None
        wire = Wire(request.transport, is_chunked, encoder(self._front.coding))
        stream = TokenStream(job, wire)
        fault = job.ask.fault
        self._service.submit(job, FaultyStream(stream, fault) if fault.is_in_stream else stream)
        try:
            how = await stream.ended
            if how != "cut":
                wire.finish()
            return response, how
        finally:
            self._service.metrics.totals["buffered_writes"] += wire.buffered_writes

    async def _gather(self, job: Job, x_request_id: str) -> web.StreamResponse:
        answer = GatheredAnswer(job)
        self._service.submit(job, answer)
        body = self._service.whole_answer(job, await answer.ended)
        coder = encoder(self._front.coding)
        if coder is not None:
            body = coder.part(body) + coder.end()
        return web.Response(body=body, headers=self._headers("application/json", x_request_id))

    def _headers(self, content_type: str, x_request_id: str) -> dict[str, str]:
        headers = {"Content-Type": content_type, "X-Request-Id": x_request_id}
        if self._front.coding != "identity":
            headers["Content-Encoding"] = self._front.coding
        if self._front.closes_after != "nothing":
            headers["Keep-Alive"] = "timeout=5, max=100"  # the promise that llama.cpp makes, too
        return headers

    async def _maybe_close(
        self, request: web.Request, response: web.StreamResponse, job: Job
    ) -> None:
        """Close the connection behind the answer's end, though its head said it stays."""
        closes_after = self._front.closes_after
        if closes_after == "answers" or (closes_after == "streams" and job.ask.is_streamed):
            await response.prepare(request)
            await response.write_eof()
            if request.transport is not None:
                request.transport.close()


@web.middleware
async def _fastapi_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Unknown paths and methods answered as vLLM's web framework does."""
    try:
        return await handler(request)
    except web.HTTPException as error:
        return _json(error.status, orjson.dumps({"detail": error.reason}))


def _refusal(api: Api, error: ApiError) -> web.Response:
    if error.kind == "UnexpectedFields":
        return _json(error.status, orjson.dumps({"detail": error.message}))
    response = _json(*api.refuse(error))
    if error.retry_after_s is not None:
        response.headers["Retry-After"] = str(error.retry_after_s)
    return response


def _json(status: int, body: bytes) -> web.Response:
    return web.Response(status=status, body=body, headers={"Content-Type": "application/json"})
