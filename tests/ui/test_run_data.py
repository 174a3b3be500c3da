import pytest

from ui.run_data import version_of

RUN = {"run_uid": "u", "state": "finished", "n_events": 900, "n_requests": 60}


@pytest.mark.parametrize("late", [{"n_events": 950}, {"n_requests": 61}, {"state": "decoding"}])
def test_late_segments_make_another_version_of_a_run(late):
    assert version_of(RUN | late) != version_of(RUN)
    assert version_of(dict(RUN)) == version_of(RUN)
