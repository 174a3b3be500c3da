"""A curve as a small picture of blocks, for docs/load-shapes.md."""

from loadgen.curves import Curve

WIDTH, HEIGHT = 60, 5
BLOCKS = " ▁▂▃▄▅▆▇█"


def picture(curve: Curve) -> str:
    """`HEIGHT` rows of blocks over a line with the seconds at its ends."""
    top = curve.peak
    step_ns = curve.end_ns / WIDTH
    at = [round((i + 0.5) * step_ns) for i in range(WIDTH)]
    eighths = [round(float(value) / top * HEIGHT * 8) for value in curve.value(at)]
    label = f"{top:g}"
    rows = []
    for row in reversed(range(HEIGHT)):
        blocks = "".join(BLOCKS[min(8, max(0, n - 8 * row))] for n in eighths)
        head = label if row == HEIGHT - 1 else ""
        rows.append(f"{head:>4} │{blocks}".rstrip())
    end = f"{curve.end_ns / 1e9:g} s"
    rows.append(f"{0:>4} └{'─' * WIDTH}")
    rows.append(f"      0 s{end:>{WIDTH - 3}}")
    return "\n".join(rows)
