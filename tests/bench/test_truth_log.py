from pathlib import Path

from bench import truth_log
from bench.truth_log import ARRIVAL, LogWriter


def test_what_was_put_is_read_back_in_order(tmp_path: Path):
    log = LogWriter(tmp_path / "log")
    for k in range(5000):  # more than one page
        log.put(3, k, 10**18 + k, k, k - 1)
    log.put(3, ARRIVAL, 1, 2, 3)
    log.close()
    seen = truth_log.read(tmp_path / "log")
    assert seen.tokens["seq"].tolist() == list(range(5000))
    assert seen.tokens["realtime_ns"][-1] == 10**18 + 4999
    assert seen.arrivals.tolist() == [(3, ARRIVAL, 1, 2, 3)]


def test_ids_of_any_allowed_length_come_back_whole(tmp_path: Path):
    ids = ["", "a", "b" * 24, "c" * 25, "d" * 63]
    log = LogWriter(tmp_path / "log")
    for number, x_request_id in enumerate(ids):
        log.put_id(number, x_request_id.encode())
    log.close()
    assert truth_log.read(tmp_path / "log").request_ids() == {x: i for i, x in enumerate(ids)}


def test_a_record_cut_by_a_dead_server_is_left_out(tmp_path: Path):
    log = LogWriter(tmp_path / "log")
    log.put(0, 0, 1, 2, 3)
    log.close()
    whole = (tmp_path / "log").read_bytes()
    (tmp_path / "log").write_bytes(whole + whole[:31])
    assert len(truth_log.read(tmp_path / "log").records) == 1
