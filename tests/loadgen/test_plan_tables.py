"""Tables of loads in files are read before anything is sent, and their mistakes name the field."""

import pytest

from loadgen.plan import parse
from loadgen.plan_tables import bad_tables


def told(path, field="rate_per_s"):
    load = {field: {"shape": "table", "file": str(path)}, "seconds": 5}
    target = {"url": "sim://null", "model": "m"}
    return bad_tables(parse({"target": target, "stages": [{"concurrency": 1, "seconds": 1}, load]}))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0,1\n5,2\n4,3\n", "has a point at 4 s after one at 5 s; expected them in order."),
        ("0,1\nx,2\n", "line 2, is 'x,2'; expected a second and a value, such as 60,12.5."),
        ("t,v\n", "holds no points; expected lines of a second and a value."),
        ("0,0\n9,0\n", "is 0 throughout; to pause, use kind = 'idle'."),
    ],
)
@pytest.mark.parametrize("field", ["rate_per_s", "concurrency"])
def test_a_mistake_in_a_table_names_field_and_file(tmp_path, text, said, field):
    path = tmp_path / "load.csv"
    path.write_text(text)
    (sentence,) = told(path, field)
    assert sentence.startswith(f"stages[1].{field}.file: {path}")
    assert sentence.endswith(said)


def test_a_good_table_and_one_that_is_not_there_say_nothing_here(tmp_path):
    (tmp_path / "load.csv").write_text("0,1\n5,2\n")
    assert told(tmp_path / "load.csv") == told(tmp_path / "none.csv") == []
