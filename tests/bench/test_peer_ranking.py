from bench.peers.command import Cpu
from bench.peers.peer import Reported, Spread
from bench.peers.ranking import FIGURES, Standing, standings
from bench.peers.side_by_side import Failed, Measured
from bench.peers.truth import Truth

TRUE = Spread(100.0, 100.0, 105.0)
NAME = "TTFT error p99, ms"


def run(tool: str, ttft_p99: float | None, concurrency: int = 64) -> Measured:
    """A run whose TTFT p99 is told as this; its truth is 105 ms."""
    told = None if ttft_p99 is None else Spread(100.0, 100.0, ttft_p99)
    truth = Truth(640, 32_000, TRUE, TRUE, TRUE, 0, 1)
    return Measured(
        tool, concurrency, 0, Reported(640, told, None, None), truth, truth, Cpu(1, 1, 1)
    )


def standing(results: list[Measured | Failed], figure: str = NAME) -> Standing:
    (found,) = [s for s in standings(results) if s.figure == figure]
    return found


def test_the_nearest_of_the_others_is_named():
    found = standing([run("headway", 105.1), run("vllm", 120.0), run("aiperf", 104.0)])
    assert found.best_other is not None
    assert (found.best_other.tool, found.best_other.median) == ("aiperf", 1.0)
    assert found.verdict == "ahead"


def test_being_further_off_than_one_other_is_behind():
    assert standing([run("headway", 107.0), run("vllm", 106.0)]).verdict == "behind"


def test_a_difference_smaller_than_headways_own_runs_is_no_loss():
    ours = [run("headway", x) for x in (105.5, 107.0, 107.5)]
    found = standing([*ours, run("vllm", 106.0)])
    assert (found.ours.least, found.ours.median, found.ours.most) == (0.5, 2.0, 2.5)
    assert found.verdict == "within its spread"


def test_what_a_tool_does_not_tell_takes_no_part():
    found = standing([run("headway", 105.1), run("vllm", None)])
    assert found.best_other is None
    assert found.verdict == "not comparable"


def test_a_level_where_everything_failed_is_still_there():
    found = standings([run("headway", 105.1), Failed("headway", 512, "gone")])
    assert {s.concurrency for s in found} == {64, 512}
    assert len(found) == 2 * len(FIGURES)
