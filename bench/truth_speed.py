"""Is the truth server fast enough to be the truth at 512 streams?"""

import tempfile
from pathlib import Path

import numpy as np

from bench import truth_log
from bench.figures import Figure
from bench.processes import bare_client, cpu_s, truth_server


def truth_speed(_turn: int) -> list[Figure]:
    """Events per second of its CPU as fast as it can, and lateness at 512 x 50 tok/s."""
    with tempfile.TemporaryDirectory() as folder:
        log_file = Path(folder) / "log"
        with truth_server(log_file) as (url, pid):
            before_s = cpu_s(pid)
            fast = bare_client(url, 512, 400, (0, 0))
            between_s = cpu_s(pid)
            paced = bare_client(url, 512, 200, (100, 20))
            paced_s = cpu_s(pid) - between_s
        tokens = truth_log.read(log_file).tokens[fast.n_events :]
        assert len(tokens) == paced.n_events
        late_ms = (tokens["mono_ns"] - tokens["due_ns"]) / 1e6
    return [
        Figure(
            "events per CPU second, unpaced",
            fast.n_events / (between_s - before_s),
            "/s",
            ">= 60000",
        ),
        Figure("events per second, wall, unpaced", fast.n_events / fast.wall_s, "/s"),
        Figure("CPU per event at 512 x 50/s", paced_s * 1e6 / paced.n_events, "µs"),
        Figure("emission late p50 at 512 x 50/s", float(np.quantile(late_ms, 0.5)), "ms"),
        Figure("emission late p99 at 512 x 50/s", float(np.quantile(late_ms, 0.99)), "ms"),
    ]
