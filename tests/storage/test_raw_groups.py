"""A raw segment by request holds what RawReader finds record by record."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.raw_groups import RawGroups, read_groups
from storage.raw_record import HEADER, MARK
from storage.raw_spool import CLOSE, OPEN, PULSE, READ, RawReader, RawWriter, raw_segments

Read = tuple[int, int, int, bytes]


def reads_of(groups: RawGroups) -> dict[int, list[Read]]:
    found: dict[int, list[Read]] = {}
    for request_id, place in groups.places.items():
        mine = groups.reads[place]
        assert (mine.headers["request_id"] == request_id).all()
        found[request_id] = list(zip(*mine.times(), mine.payloads(), strict=True))
    return found


def without_reads(groups: RawGroups) -> list[Any]:
    return [groups.opens, groups.closes, groups.pulses, groups.last_mono_ns, groups.damage]


def one_by_one(path: Path) -> tuple[RawGroups, dict[int, list[Read]]]:
    groups, reads = RawGroups(), dict[int, list[Read]]()
    for record in RawReader(path):
        groups.last_mono_ns = record.mono_ns or groups.last_mono_ns
        if record.kind == READ:
            read = (record.mono_ns, record.delay_ns, record.poll_ns, record.payload)
            reads.setdefault(record.request_id, []).append(read)
        elif record.kind == OPEN:
            groups.opens[record.request_id] = record.payload
        elif record.kind == CLOSE:
            groups.closes[record.request_id] = record.payload
        elif record.kind == PULSE:
            groups.pulses.append(record.payload)
    return groups, reads


def assert_same(path: Path) -> RawGroups:
    found = read_groups(path)
    expected, reads = one_by_one(path)
    assert without_reads(found) == without_reads(expected)
    assert reads_of(found) == reads
    assert list(found.places) == sorted(reads)
    return found


def write(folder: Path, actions: list[tuple[int, int, bytes]]) -> Path:
    writer = RawWriter(folder, 0, capacity_bytes=1 << 16)
    for i, (kind, request_id, data) in enumerate(actions):
        if kind == READ:
            writer.read(request_id, 1000 + i, i - 1, 900 + i, data)
        elif kind == OPEN:
            writer.open(request_id, {"request_id": request_id}, 1000 + i)
        elif kind == CLOSE:
            writer.close(request_id, {"cause": "done"}, 1000 + i)
        else:
            writer.pulse({"worker": 0})
    writer.seal()
    return raw_segments(folder, 0)[0].path


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from([OPEN, READ, READ, READ, CLOSE, PULSE]), st.integers(0, 4), st.binary()
    )
)


@settings(max_examples=50, deadline=None)
@given(ACTIONS)
def test_groups_are_the_records_by_request(tmp_path_factory, actions):
    path = write(tmp_path_factory.mktemp("spool"), actions)
    assert_same(path)


@pytest.mark.parametrize("fill", [b"", b"1234"])
def test_a_payload_that_holds_whole_records_of_its_own_is_a_payload(tmp_path: Path, fill: bytes):
    inner = HEADER.pack(READ, 9, 3, 1, 2, 3, MARK) + b"abc"
    path = write(tmp_path, [(READ, 1, fill + inner), (PULSE, 0, b""), (READ, 2, fill + inner)])
    assert set(assert_same(path).places) == {1, 2}


@pytest.mark.parametrize("size", [0, 1, 7, 39, 40, 4096])
def test_a_file_of_nothing_but_zeros_holds_nothing(tmp_path: Path, size: int):
    path = tmp_path / "raw-w0-000000.open"
    path.write_bytes(bytes(size))
    assert len(assert_same(path).reads) == 0


@settings(max_examples=50, deadline=None)
@given(ACTIONS, st.integers(0, 2000), st.integers(0, 2000))
def test_a_file_cut_and_continued_by_zeros_ends_where_record_by_record_does(
    tmp_path_factory, actions, cut, n_zeros
):
    path = write(tmp_path_factory.mktemp("spool"), actions)
    path.write_bytes(path.read_bytes()[:cut] + bytes(n_zeros))
    found, (expected, reads) = read_groups(path), one_by_one(path)
    assert (reads_of(found), found.last_mono_ns) == (reads, expected.last_mono_ns)
    damage = RawReader(path)
    assert list(damage) is not None
    assert (found.damage is None) == (damage.damage is None)


def test_a_file_left_open_by_a_dead_worker_ends_at_its_last_whole_record(tmp_path: Path):
    writer = RawWriter(tmp_path, 0)
    writer.open(5, {"a": 1}, 10)
    writer.read(5, 11, 1, 9, b"abc")
    groups = read_groups(raw_segments(tmp_path, 0)[0].path)
    assert orjson.loads(groups.opens[5]) == {"a": 1}
    assert reads_of(groups) == {5: [(11, 1, 9, b"abc")]}
    assert groups.damage is None
    writer.seal()


def test_damage_is_named_and_what_is_before_it_is_read(tmp_path: Path):
    path = write(tmp_path, [(READ, 1, b"one"), (READ, 2, b"two"), (READ, 3, b"three")])
    whole = bytearray(path.read_bytes())
    second = 48  # after one header, three bytes and their padding
    mark_at = whole.index(MARK.to_bytes(4, "little"), second)
    assert mark_at == second + HEADER.size - 4
    whole[mark_at] ^= 0xFF
    path.write_bytes(whole)
    groups = read_groups(path)
    assert list(groups.places) == [1]
    assert groups.damage == f"raw-w0-000000.seg is damaged at byte {second}; the rest is lost"


def test_a_record_that_runs_over_the_end_is_damage(tmp_path: Path):
    path = write(tmp_path, [(READ, 1, b"one"), (READ, 2, b"x" * 100)])
    path.write_bytes(path.read_bytes()[:-50])
    groups = read_groups(path)
    assert list(groups.places) == [1]
    assert groups.damage is not None
