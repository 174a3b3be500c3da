"""How many events per second can the simulator stream from one core?"""

from bench.figures import Figure
from bench.processes import bare_client, cpu_s, server

PROFILE = "null"  # also the name of its model
N_STREAMS, N_TOKENS = 64, 1500


def simulator_speed(_turn: int) -> list[Figure]:
    """Events per second of simulator CPU, and as a client sees them with no pace set (`null`)."""
    with server("simulator.server", "--port", "0", "--profile", PROFILE) as (url, pid):
        bare_client(url, N_STREAMS, 50, (0, 0), PROFILE)  # warm
        before_s = cpu_s(pid)
        run = bare_client(url, N_STREAMS, N_TOKENS, (0, 0), PROFILE)
        used_s = cpu_s(pid) - before_s
    return [
        Figure("events per CPU second", run.n_events / used_s, "/s", ">= 20000"),
        Figure("events per second, wall", run.n_events / run.wall_s, "/s"),
        Figure("bare client's CPU over the simulator's", run.cpu_s / used_s, "x"),
    ]
