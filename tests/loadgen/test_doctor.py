"""The doctor says what it saw and, if anything is wrong, what to do."""

import resource

import pytest

from loadgen import doctor
from loadgen.limits import raise_open_files, streams_allowed


def ticking(step_ns, per_call_ns):
    """A clock that advances by `per_call_ns` a call and shows only whole steps."""
    calls = iter(range(10_000_000))
    return lambda: next(calls) * per_call_ns // step_ns * step_ns


@pytest.mark.parametrize(("step_ns", "per_call_ns"), [(1, 40), (1_000_000, 300), (100, 700)])
def test_the_clocks_step_is_the_smallest_one_seen(step_ns, per_call_ns):
    step, call = doctor.clock_step_ns(ticking(step_ns, per_call_ns), n=20_000)
    assert step == max(step_ns, per_call_ns)
    assert call == pytest.approx(per_call_ns, rel=0.2)


def test_a_clock_source_that_cannot_be_read_is_no_failure(tmp_path):
    assert "unknown source" in doctor.clock(tmp_path / "missing").seen


def test_the_soft_limit_of_open_files_is_raised_and_never_lowered():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (128, hard))
        assert raise_open_files(256) == 256
        assert raise_open_files(64) == 256
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (256, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_streams_leave_files_for_everything_else():
    assert streams_allowed(100) == 0
    assert streams_allowed(1_256) == 1_000


def test_a_data_folder_below_a_file_is_bad_and_says_what_to_do(tmp_path):
    (tmp_path / "file").touch()
    finding = doctor.data_folder(tmp_path / "file" / "data")
    assert finding.level == "bad"
    assert str(tmp_path) in finding.seen
    assert "HEADWAY_DATA" in finding.advice


def test_a_data_folder_that_does_not_exist_is_made(tmp_path):
    assert doctor.data_folder(tmp_path / "a" / "b").level in ("ok", "warn")
    assert list((tmp_path / "a" / "b").iterdir()) == []


def test_what_is_not_ok_says_what_to_do(tmp_path):
    findings = [doctor.clock(), doctor.open_files(), doctor.cores(), doctor.browser()]
    assert all(bool(f.advice) == (f.level != "ok") for f in findings)
