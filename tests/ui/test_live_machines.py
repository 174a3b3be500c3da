from ui.live_machines import machine_rows

FAR = {"worker": 1, "host": "gpu-b", "address": "10.0.0.2", "error_ns": 41_700}
LOSS = {"worker": 1, "how": "was not heard any more", "into_s": 12.3, "level": "c=4"}


def test_a_run_of_one_machine_has_no_others():
    assert machine_rows(None) == []
    assert machine_rows({"workers": [], "lost": []}) == []


def test_a_machine_has_its_name_and_how_well_its_clock_is_known():
    (row,) = machine_rows({"workers": [FAR], "lost": []})
    assert row["Machine"] == "gpu-b (10.0.0.2)"
    assert row["Clock known within"] == "± 0.042 ms"
    assert row["State"] == "takes part"


def test_a_clock_that_nobody_has_measured_yet_is_no_zero():
    (row,) = machine_rows({"workers": [FAR | {"error_ns": None, "address": ""}], "lost": []})
    assert (row["Machine"], row["Clock known within"]) == ("gpu-b", "–")


def test_a_lost_worker_says_how_and_when():
    (row,) = machine_rows({"workers": [FAR], "lost": [LOSS]})
    assert row["State"] == "was not heard any more, 12 s into c=4"
