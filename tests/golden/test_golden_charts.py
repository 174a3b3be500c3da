"""Each figure of CHARTS over a small frame is its charts/NAME.json, mark by mark."""

import inspect
import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from charts.registry import CHARTS

FOLDER = Path(__file__).parent / "charts"

# Two levels; the heavier one with as few requests as show a median only.
FRAMES = {
    "latency_samples": pd.DataFrame(
        {
            "level": ["c=1"] * 25 + ["c=4"] * 5,
            "clock": "send",
            "ms": [*range(40, 65), 90, 95, 100, 120, 300],
        }
    ),
    "gap_histogram": pd.DataFrame(
        {"level": "c=1", "metric": "gap", "b": [497, 502, 507, 639], "n": [30, 60, 9, 1]}
    ),
    "load_curve": pd.DataFrame(
        {
            "level": ["c=1", "c=4"],
            "in_flight": [1.0, 3.9],
            "tps": [50.0, 150.0],
            "tps_low": [48.0, None],
            "tps_high": [52.0, None],
            "ttft_p50_ms": [50.0, 95.0],
            "ttft_p95_ms": [62.8, 264.0],
            "ttft_p95_low_ms": [60.0, 100.0],
            "ttft_p95_high_ms": [64.0, None],
            "n": [25, 5],
            "failed": [0, 1],
        }
    ),
    "generator_health": pd.DataFrame(
        {
            "sec": [3.0, 4.0],
            "lag_ms": [0.2, 1.5],
            "loop_ms": [1.0, 12.0],
            "pause_ms": [None, None],
            "send_lag_ms": [None, None],
            "cpu_share": [0.4, 0.55],
            "bound_ms": [0.0, 0.3],
            "shared_share": [0.0, 0.02],
        }
    ),
    "level_timeline": pd.DataFrame(
        {
            "level": "c=1",
            "what": ["ttft_ms"] * 2 + ["in_flight"] * 3,
            "t_s": [0.5, 1.5, 0.5, 1.5, 2.5],
            "value": [90.0, 110.0, 1.0, 1.0, 0.5],
            "n": [4.0, None, None, None, None],
        }
    ),
    "prompt_points": pd.DataFrame(
        {"tokens": [100, 200, 400, 800], "ms": [30.0, 41.0, 64.0, 110.0], "n": [8] * 4},
        dtype="float32",
    ),
    "answer_events": pd.DataFrame(
        {
            "kind": ["role", "reasoning", "content", "content", "finish", "done"],
            "ms": [5.0, 200.0, 220.5, 240.25, 241.0, 241.0],
            "so_far": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        }
    ),
}


OPTIONS: dict[str, Any] = {
    "slo_ms": 100,
    "slope": {
        "plain": {
            "theil_sen": {"per_1k_ms": 114.0, "at_zero_ms": 18.5, "ci95": [110.0, 118.0]},
            "least_squares": {"per_1k_ms": 114.3, "at_zero_ms": 18.4, "r2": 0.99},
        }
    },
}


def drawn(name: str) -> Any:
    """The figure as plain JSON: without plotly's own template, numbers to six digits."""
    chart = CHARTS[name]
    taken = inspect.signature(chart.draw).parameters
    options = {name: value for name, value in OPTIONS.items() if name in taken}
    figure = chart.draw(FRAMES[chart.frame], **options)
    figure.update_layout(template=None)
    return plain(figure.to_dict())


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float):
        return None if math.isnan(value) else float(f"{value:.6g}")
    return value


@pytest.mark.parametrize("name", CHARTS)
def test_a_figure_is_its_golden_file(name, is_refreshing):
    path = FOLDER / f"{name}.json"
    found = drawn(name)
    if is_refreshing:
        FOLDER.mkdir(exist_ok=True)
        text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
        path.write_text(text.replace("},{", "},\n{") + "\n", encoding="utf-8")
    assert found == json.loads(path.read_text(encoding="utf-8")), "`make golden`, then review"
