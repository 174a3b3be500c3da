import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.plain import DASH, counted, label, ms, number, seconds, sentence


def test_a_label_cannot_act_as_markdown():
    assert label("![x](http://evil/x.png)") == r"\!\[x\]\(http\:\/\/evil\/x\.png\)"
    assert label(":red[**hi**] $x$") == r"\:red\[\*\*hi\*\*\] \$x\$"


def test_a_label_is_one_line_of_at_most_its_limit():
    assert label("a\nb\x00\x1b[31mc\u2028d") == r"a b \[31mc d"
    assert label("x" * 5_000_000, 10) == "x" * 9 + "…"


@given(st.text(max_size=300))
def test_every_label_reads_as_the_text_it_came_from(text):
    plain = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    shown = label(text, 400)
    unescaped = shown.replace("\\\\", "\0").replace("\\", "").replace("\0", "\\")
    assert unescaped == plain


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, DASH),
        (float("nan"), DASH),
        (0, "0"),
        (0.2534, "0.253"),
        (9.44, "9.44"),
        (94.46, "94.5"),
        (1234.5, "1,230"),
        (55_497, "55,500"),
    ],
)
def test_a_number_has_three_significant_digits(value, shown):
    assert number(value) == shown


def test_milliseconds_become_seconds_where_nobody_counts_in_milliseconds():
    assert (ms(0.31), ms(127.4), ms(9_999), ms(12_340), ms(None)) == (
        "0.310 ms",
        "127 ms",
        "10,000 ms",
        "12.3 s",
        DASH,
    )


def test_a_duration_is_said_in_its_two_largest_units():
    assert [seconds(v) for v in (0.2, 48, 65, 3600, 7805, None)] == [
        "0 s",
        "48 s",
        "1 min 5 s",
        "1 h",
        "2 h 10 min",
        DASH,
    ]


def test_one_request_is_not_requests():
    assert (counted(1, "request"), counted(2_000, "request")) == ("1 request", "2,000 requests")


def test_an_error_is_one_line_and_names_the_file():
    assert (
        sentence(PermissionError(13, "Permission denied", "/data")) == "Permission denied: /data."
    )
    assert sentence(ValueError("two\nlines")) == "two lines"
    assert sentence(ValueError()) == "ValueError without a message."
