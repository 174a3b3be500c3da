"""The one-minute sweep behind the button `Run the demo`."""

from loadgen.plan import ClosedLoop, Plan, Slo, Target, Workload

# Streams in flight -> seconds.  One stream needs longer until a p95 can be judged (20 requests).
LEVELS = {1: 14, 2: 10, 4: 9, 8: 9, 16: 9, 32: 9}


def demo_plan() -> Plan:
    """A sweep over concurrency on the built-in simulator, with an objective to judge it by."""
    return Plan(
        name="Demo: small GPU, 1 to 32 streams",
        target=Target(url="sim://small-gpu", model="small-gpu"),
        workload=Workload(prompt_tokens=256, output_tokens=32),
        stages=[ClosedLoop(concurrency=n, seconds=s) for n, s in LEVELS.items()],
        slos=[Slo(metric="ttft", percentile=95, max_ms=500)],
    )
