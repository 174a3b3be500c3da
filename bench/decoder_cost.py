"""What does decoding one event cost?  In the run beside the load, and alone on a prepared spool."""

import gc
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench import truth_script
from bench.client_error import run_at
from bench.figures import Figure
from bench.processes import ROOT
from loadgen.run_folder import RunFolder
from storage.raw_spool import RawWriter

CONCURRENCY, N_TOKENS, ITL_NS = 512, 384, 20_000_000


def decoder_cost(turn: int) -> list[Figure]:
    """Decoder CPU per event beside 512 streams x 50 tok/s; alone, and over json.loads of it all."""
    beside_us = run_at(CONCURRENCY, turn).cpu_us_per_event("decoder")
    timing = truth_script.Timing(n=N_TOKENS)
    answer = truth_script.answer("/v1/chat/completions", b"{}", timing)
    reads = [piece for _, piece in answer.pieces()]
    alone_us, pairs_us = _process_us(reads), _process_us(_in_pairs(reads))
    json_us = _json_us(answer.tokens[:N_TOKENS])
    return [
        Figure("decoder CPU per event beside the load", beside_us, "µs", "<= 8"),
        Figure("decoder process alone, per event", alone_us, "µs"),
        Figure("decoder process alone, two events per read", pairs_us, "µs"),
        Figure("decoder process alone over json.loads", alone_us / json_us, "x"),
    ]


def _in_pairs(reads: list[bytes]) -> list[bytes]:
    """The same bytes as a late client reads them: soon two events at once."""
    tail = reads[3:]
    return [*reads[:3], *(b"".join(tail[i : i + 2]) for i in range(0, len(tail), 2))]


def _process_us(reads: list[bytes]) -> float:
    """CPU of a decoder process over 512 interleaved streams, less that over one empty spool."""
    with tempfile.TemporaryDirectory(prefix="headway-bench-") as folder:
        full, empty = Path(folder) / "full", Path(folder) / "empty"
        _write_spool(full, reads, CONCURRENCY)
        _write_spool(empty, reads, 0)
        used_s = _decode_s(full) - _decode_s(empty)
    return used_s * 1e6 / (CONCURRENCY * N_TOKENS)


def _decode_s(run_dir: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "loadgen.decoder", str(run_dir), "0"]
    subprocess.run(command, cwd=ROOT, check=True, timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert list((run_dir / "spool").glob("decoded-w0")), "the decoder did not come to its end"
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _write_spool(run_dir: Path, reads: list[bytes], n_streams: int) -> None:
    """What a worker leaves that had n_streams side by side, one event per read, 20 ms apart."""
    run = RunFolder(run_dir)
    run.spool.mkdir(parents=True)
    run.write("run.json", {"run_uid": run_dir.name, "t0_mono_ns": 0, "epoch_ns": 0})
    run.write("status.json", {"run_uid": run_dir.name, "state": "decoding"})
    writer = RawWriter(run.spool, 0)
    for request_id in range(n_streams):
        writer.open(request_id, _open_meta(request_id), 0)
    for k, data in enumerate(reads):
        at_ns = (k + 1) * ITL_NS
        for request_id in range(n_streams):
            writer.read(request_id, at_ns, 50_000, at_ns - 100_000, data)
        writer.tick(at_ns)
    for request_id in range(n_streams):
        writer.close(request_id, _close_meta(len(reads) * ITL_NS), len(reads) * ITL_NS)
    writer.seal()


def _json_us(tokens: list[bytes]) -> float:
    """json.loads per event, of the same documents in this process."""
    documents = [t.split(b"data: ", 1)[1].split(b"\n\n")[0] for t in tokens]
    gc.disable()  # as in the decoder; else it would walk all that other benches keep
    begin_s = time.process_time()
    for _ in range(CONCURRENCY):
        for document in documents:
            json.loads(document)
    used_s = time.process_time() - begin_s
    gc.enable()
    return used_s * 1e6 / (CONCURRENCY * N_TOKENS)


def _open_meta(request_id: int) -> dict[str, Any]:
    return {
        "request_id": request_id,
        "x_request_id": f"bench-{request_id}",
        "worker": 0,
        "stage": 0,
        "phase": "measure",
        "api": "openai_chat",
        "due_ns": None,
        "dispatched_ns": 0,
        "send_ns": 0,
        "prompt_tokens_planned": 64,
        "max_tokens": N_TOKENS,
    }


def _close_meta(end_ns: int) -> dict[str, Any]:
    phases = dict.fromkeys(("detail", "dns_ns", "connect_ns", "tls_ns"))
    return {"end_ns": end_ns, "cause": "done", "conn_reused": True, "reconnects": 0, **phases}
