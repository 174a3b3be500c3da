"""The tail of the live files gives each line once, and no half line."""

from storage.live import LiveTail


def test_each_line_is_read_once_and_half_a_line_waits_for_its_end(tmp_path):
    tail = LiveTail(tmp_path)
    assert tail.read() == []
    first, second = tmp_path / "live-0.jsonl", tmp_path / "live-1.jsonl"
    first.write_text('{"t_us": 1}\n{"t_us"')
    second.write_text('{"t_us": 7}\n')
    assert [line["t_us"] for line in tail.read()] == [1, 7]
    assert tail.read() == []
    with first.open("a") as file:
        file.write(": 2}\n")
    assert tail.read() == [{"t_us": 2}]


def test_the_half_line_of_a_killed_decoder_hides_no_other(tmp_path):
    (tmp_path / "live-0.jsonl").write_text('{"t_us": 1}\n{"t_u\n{"t_us": 3}\n')
    assert [line["t_us"] for line in LiveTail(tmp_path).read()] == [1, 3]
