import pytest
from frames_to_draw import prompts

from charts.ttft_prompt import ttft_prompt

LINE = {"at_zero_ms": 20.0, "per_1k_ms": 50.0, "ci95": (40.0, 60.0)}
SLOPE = {"plain": {"theil_sen": LINE, "least_squares": LINE}, "uncached": None}


def test_the_line_and_its_band_meet_at_the_middle_prompt():
    points, band, line, squares = ttft_prompt(prompts(), SLOPE).data
    assert points.name == "requests · n=60"
    assert line.name == "+50 ms per 1,000 tokens"
    assert squares.line.dash == "dot"
    assert line.y[0] == pytest.approx(20 + 0.05 * 100, rel=1e-5)
    half = len(band.x) // 2
    width = band.y[:half] - band.y[half:][::-1]
    assert width[0] == pytest.approx(0.02 * (1050 - 100), rel=1e-4)
    assert width.min() < 2


def test_a_part_of_many_requests_is_said_to_be_one():
    assert ttft_prompt(prompts().assign(n=180.0)).data[0].name == "requests · n=180, every 3. drawn"


def test_why_there_is_no_line_is_said_instead_of_one():
    figure = ttft_prompt(prompts().iloc[:0], {"plain": None, "reason": "Too few."})
    assert figure.layout.annotations[0].text == "Too few."
