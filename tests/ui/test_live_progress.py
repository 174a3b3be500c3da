from ui.live_progress import progress

STATUS = {"stage": 2, "n_stages": 6, "stage_name": "c=4", "elapsed_s": 25.0, "planned_s": 60.0}
PROBE = {"name": "c=12", "why": "probe 3 of the search: up from the 6 that held"}
SEARCHING = STATUS | {
    "n_stages": None,
    "planned_s": None,
    "stage_seconds": 30.0,
    "stage_began_us": 40_000_000,
    "search": [{"kind": "search", "is_done": False, "low": 6, "high": None, "over": "concurrency"}],
}


def test_progress_tells_the_level_and_the_time_left():
    assert progress(STATUS, None, 0) == (25 / 60, "Level 3 of 6 (c=4) · 35 s left of 1 min")
    assert progress(STATUS | {"elapsed_s": 99.0}, None, 0)[0] == 1


def test_a_level_is_named_apart_from_others_of_the_same_load():
    assert progress(STATUS, {"name": "c=4 (2)"}, 0)[1].startswith("Level 3 of 6 (c=4 (2)) ·")


def test_levels_that_end_by_their_requests_have_no_time_left():
    share, words = progress(STATUS | {"planned_s": None}, None, 0)
    assert share == 2 / 6
    assert words == "Level 3 of 6 (c=4) · 25 s so far"


def test_a_search_tells_what_the_probe_is_for_and_what_is_known():
    share, words = progress(SEARCHING, PROBE, 52_000_000)
    assert share == 12 / 30
    assert words == (
        "Level 3 (c=12), probe 3 of the search: up from the 6 that held · "
        "holds at 6 streams so far · 12 s of at most 30 s"
    )


def test_a_probe_that_drains_is_done_and_one_without_an_end_in_time_only_goes_on():
    assert progress(SEARCHING, PROBE, 99_000_000)[0] == 1
    share, words = progress(SEARCHING | {"stage_seconds": None}, PROBE, 52_000_000)
    assert share == 0
    assert words.endswith("12 s so far")


def test_a_status_of_a_level_that_has_not_begun_is_at_its_beginning():
    begun = SEARCHING | {"stage_began_us": None}
    assert progress(begun, None, 52_000_000)[1].endswith("0 s of at most 30 s")
