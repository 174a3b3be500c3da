"""The tiles of the Live page: what is open, what came, how late, what failed."""

from typing import Any

from loadgen.run_folder import terminal
from ui.card import Tile, tiles
from ui.live_view import RATE_S, LiveTiles
from ui.plain import ms, number

HELP = {
    "in_flight": "Requests sent and not ended.",
    "requests": f"Complete answers per second over the last {RATE_S} s.",
    "offered": f"Arrivals of the schedule that came due per second, over the last {RATE_S} s, and "
    "those of them that were dispatched. The difference was not sent. What closed loops beside the "
    "schedule ask for is in both.",
    "not_sent": "Arrivals that found limits.max_in_flight streams open. They stay in the data and "
    "count as failed.",
    "tokens": f"Over the last {RATE_S} s, all streams together. Chunks count where the server "
    "does not say how many tokens a chunk holds.",
    "ttft": "Time from send to the first token, of this level; 95 of 100 requests were faster.",
    "ttft_sched": "Time to the first token from the instant at which the schedule wanted the "
    "request sent, of this level; 95 of 100 requests were faster.",
    "gap": "Time between successive chunks of one stream; 99 of 100 gaps were shorter.",
    "errors": "Requests that did not end with a complete answer, by kind below.",
}


def live_tiles_row(now: LiveTiles, status: dict[str, Any]) -> None:
    """Six tiles in one row; in open loop eight in two, the schedule's first."""
    ended = terminal(status["state"])
    if now.is_scheduled:
        tiles([_in_flight(status, ended), _offered(now), _not_sent(now, ended), _done(now, ended)])
        tiles([_tokens(now), _ttft_from_schedule(now), _gap(now), _errors(now, ended)])
    else:
        six = [_in_flight(status, ended), _done(now, ended), _tokens(now), _ttft(now), _gap(now)]
        tiles([*six, _errors(now, ended)])


def _in_flight(status: dict[str, Any], ended: bool) -> Tile:
    """The last status of a run that was cut may still count some."""
    shown = "0" if ended else f"{status['in_flight']:,}"
    return Tile("In flight", shown, "streams open", HELP["in_flight"])


def _offered(now: LiveTiles) -> Tile:
    dispatched = f"{number(now.sent_per_s)} dispatched"
    return Tile("Offered/s", number(now.offered_per_s), dispatched, HELP["offered"])


def _not_sent(now: LiveTiles, ended: bool) -> Tile:
    if not now.not_sent:
        return Tile("Not sent", "0", _none(ended), HELP["not_sent"])
    return Tile("Not sent", f":red[{now.not_sent:,}]", "beyond max_in_flight", HELP["not_sent"])


def _done(now: LiveTiles, ended: bool) -> Tile:
    done = f"{now.complete:,} complete{'' if ended else ' so far'}"
    return Tile("Requests/s", number(now.requests_per_s), done, HELP["requests"])


def _tokens(now: LiveTiles) -> Tile:
    return Tile("Output tokens/s", number(now.tokens_per_s), "all streams", HELP["tokens"])


def _ttft(now: LiveTiles) -> Tile:
    note = f"{_recent(now)} · n = {now.n_ttft:,}"
    return Tile("TTFT p95", ms(now.ttft_p95_ms), note, HELP["ttft"])


def _ttft_from_schedule(now: LiveTiles) -> Tile:
    note = f"{ms(now.ttft_p95_ms)} from send · n = {now.n_ttft:,}"
    return Tile("TTFT p95 from schedule", ms(now.ttft_sched_p95_ms), note, HELP["ttft_sched"])


def _gap(now: LiveTiles) -> Tile:
    return Tile("Chunk gap p99", ms(now.gap_p99_ms), _recent(now), HELP["gap"])


def _errors(now: LiveTiles, ended: bool) -> Tile:
    note = "requests failed" if now.failed else _none(ended)
    return Tile("Errors", f"{now.failed:,}", note, HELP["errors"])


def _recent(now: LiveTiles) -> str:
    return f"last {now.latency_s} s"


def _none(ended: bool) -> str:
    return "none" if ended else "none so far"
