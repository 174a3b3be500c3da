import json

from tests.ui.run_folders import append, live_line
from ui.live_feed import KEEP_US, LiveFeed, read_stages


def test_each_line_is_taken_once_however_often_one_reads(tmp_path):
    feed = LiveFeed(tmp_path)
    append(tmp_path, live_line(1), live_line(2))
    feed.read()
    append(tmp_path, live_line(3))
    feed.read()
    live = feed.read()
    assert [line["t_us"] for line in live.lines[0]] == [1_000_000, 2_000_000, 3_000_000]
    assert live.outcomes == {"complete": 15}
    assert live.events == 300


def test_half_a_line_waits_for_its_other_half(tmp_path):
    feed = LiveFeed(tmp_path)
    whole = json.dumps(live_line(1)).encode() + b"\n"
    path = tmp_path / "live-0.jsonl"
    path.write_bytes(whole[:40])
    assert feed.read().lines == {}
    with path.open("ab") as file:
        file.write(whole[40:])
    assert len(feed.read().lines[0]) == 1


def test_a_line_that_a_killed_decoder_broke_off_is_passed_over(tmp_path):
    append(tmp_path, live_line(1))
    with (tmp_path / "live-0.jsonl").open("ab") as file:
        file.write(b'{"t_us": 2\n')
    append(tmp_path, live_line(3))
    assert len(LiveFeed(tmp_path).read().lines[0]) == 2


def test_old_lines_are_dropped_but_stay_counted(tmp_path):
    append(tmp_path, live_line(1), live_line(2 + KEEP_US / 1e6))
    live = LiveFeed(tmp_path).read()
    assert len(live.lines[0]) == 1
    assert live.outcomes["complete"] == 10


def test_the_latest_sentence_of_each_kind_is_kept(tmp_path):
    for t, text in ((1, "first"), (2, "second")):
        error = {"outcome": "http_error", "detail": text}
        append(tmp_path, live_line(t, outcomes={"http_error": 1}, last_error=error))
    assert LiveFeed(tmp_path).read().last_details == {"http_error": "second"}


def test_outcomes_are_counted_for_each_class_too(tmp_path):
    seen = {"chat": {"outcomes": {"complete": 2}, "ttft": {}, "ttft_sched": {}}}
    append(tmp_path, live_line(1), live_line(2, classes=seen), live_line(3, classes=seen))
    assert LiveFeed(tmp_path).read().classes == {"chat": {"complete": 4}}


def test_the_last_row_of_a_stage_wins(tmp_path):
    write_stages(tmp_path, (0, "c=1", None), (0, "c=1", 5), (1, "c=4", None))
    assert [row["end_us"] for row in read_stages(tmp_path)] == [5, None]


def test_the_same_load_again_has_a_name_of_its_own(tmp_path):
    write_stages(tmp_path, (0, "c=4", None), (0, "c=4", 5), (1, "c=4", None))
    assert [row["name"] for row in read_stages(tmp_path)] == ["c=4", "c=4 (2)"]


def write_stages(folder, *rows):
    lines = [json.dumps(dict(zip(("stage", "name", "end_us"), row, strict=True))) for row in rows]
    (folder / "stages.jsonl").write_text("\n".join(lines) + "\n")


def test_a_run_without_any_file_yet_has_nothing_to_show(tmp_path):
    assert LiveFeed(tmp_path).read().lines == {}
    assert read_stages(tmp_path) == []
