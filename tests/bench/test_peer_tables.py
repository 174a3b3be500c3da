from bench.peers.command import Cpu
from bench.peers.peer import Reported, Spread, error
from bench.peers.side_by_side import Failed, Measured
from bench.peers.tables import tables
from bench.peers.truth import Truth

TRUE = Spread(100.0, 100.0, 105.0)
GAPS = Spread(20.0, 20.0, 21.0)


def measured(tool: str, reported: Reported, exit_code: int = 0) -> Measured:
    truth = Truth(640, 32_000, TRUE, GAPS, GAPS, 0, 11_000_000_000)
    cpu = Cpu(start_s=4.0, load_s=1.6, after_s=0.32)
    return Measured(tool, 64, exit_code, reported, truth, truth, cpu)


def row(text: str, *begins: str) -> list[str]:
    """The cells of the only line that begins with these cells."""
    (line,) = [x for x in text.splitlines() if x.startswith("| " + " | ".join(begins) + " |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_error_is_the_distance_and_none_where_something_is_not_told():
    assert error(TRUE, Spread(99.0, 100.5, None)) == Spread(1.0, 0.5, None)


def test_load_and_cost_stand_beside_each_other():
    load, *_ = sections([measured("guidellm", Reported(640, TRUE, None, GAPS))])
    cells = row(load, "64", "guidellm")
    assert cells[2:] == ["640, 640, 640", "2909 (2963)", "50.0", "60.0", "4.0", ""]


def test_every_row_is_as_long_as_its_head():
    worked = measured("vllm", Reported(640, TRUE, GAPS, GAPS))
    for table in sections([worked, Failed("aiperf", 64, "gone")]):
        lines = table.splitlines()
        assert {line.count(" |") for line in lines} == {lines[0].count(" |")}


def test_what_is_not_told_is_not_an_error_of_zero():
    _, ttft, *_ = sections([measured("guidellm", Reported(640, None, None, GAPS))])
    assert row(ttft, "64", "guidellm")[3:] == ["not told", "–"]


def test_a_tool_with_two_meanings_of_itl_has_a_row_for_each():
    _, _, itl, _ = sections([measured("vllm", Reported(640, TRUE, Spread(19.6, 20.0, 22.5), GAPS))])
    lines = [line for line in itl.splitlines() if line.startswith("| 64 | vllm |")]
    assert ["each chunk gap" in x or "mean of each request" in x for x in lines] == [True, True]
    assert "0.40 / 0.00 / 1.50" in lines[0]


def test_a_tool_that_failed_is_in_every_table_with_its_own_words_in_the_first():
    failed = Failed("aiperf", 64, "exit code 1:\n  no | tokenizer")
    load, ttft, itl, _ = sections([failed])
    assert "no \\| tokenizer" in load
    for later in (ttft, itl):
        assert row(later, "64", "aiperf")[2] == "failed, see above"


def test_a_tools_doubt_about_itself_is_shown():
    reported = Reported(640, TRUE, GAPS, GAPS, remark="saturated")
    load, *_ = sections([measured("headway", reported, exit_code=3)])
    assert row(load, "64", "headway")[-1] == "saturated, exit code 3"


def sections(results: list[Measured | Failed]) -> list[str]:
    return tables(results, rounds=10).split("\n\n")[1::2]
