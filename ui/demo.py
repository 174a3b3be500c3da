"""The one-minute sweep behind the button `Run the demo`."""

from loadgen.plan import ClosedLoop, Plan, Slo, Target, Workload

LEVELS = (1, 2, 4, 8, 16, 32)
SECONDS = 10.0  # for each level: six of them are the minute


def demo_plan() -> Plan:
    """A sweep over concurrency on the built-in simulator, with an objective to judge it by."""
    return Plan(
        name="Demo: small GPU, 1 to 32 streams",
        target=Target(url="sim://small-gpu", model="small-gpu"),
        workload=Workload(prompt_tokens=256, output_tokens=64),
        stages=[ClosedLoop(concurrency=n, seconds=SECONDS) for n in LEVELS],
        slos=[Slo(metric="ttft", percentile=95, max_ms=500)],
    )
