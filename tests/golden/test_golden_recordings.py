"""What real servers answered, decoded from the reads it came in: counts, times and outcome.

recordings/SERVER.jsonl.xz holds bytes and times, recordings/SERVER.json what our decoder says of
each answer, recordings/INDEX.tsv what another program counted in it.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from index_counts import DIFFERENCES, OPENAI, expected, found, n_events, outcome
from recordings import BESIDE, FOLDER, Recording, beside, decoded, index, keep, kept

from loadgen.wire.registry import APIS
from storage.records import OUTCOMES

KEPT = kept()
INDEX = index(FOLDER)
SERVERS = sorted({recording.server for recording in KEPT})
OURS = [r for r in KEPT if r.api]
STREAMS = [r for r in OURS if INDEX[r.name]["json_events"] != "0"]
OPENAIS = [r for r in STREAMS if r.api in OPENAI]
WHOLE = [r for r in OURS if "nonstream" in r.case]


def name_of(recording: Recording) -> str:
    return recording.name


def in_words(said: dict[str, Any]) -> dict[str, Any]:
    """As JSON has it."""
    return json.loads(json.dumps(said))


@pytest.mark.parametrize("server", SERVERS)
def test_recordings_decode_to_their_golden_file(server: str, is_refreshing: bool):
    path = FOLDER / f"{server}.json"
    said = {r.case: in_words(decoded(r, r.api)) for r in OURS if r.server == server and r.api}
    if is_refreshing:
        lines = ",\n".join(f'"{case}": {json.dumps(fields)}' for case, fields in said.items())
        path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    golden = json.loads(path.read_text(encoding="utf-8"))
    assert said.keys() == golden.keys(), "`make golden`, then review"
    for case, fields in said.items():
        assert fields == golden[case], case


@pytest.mark.parametrize("recording", OPENAIS, ids=name_of)
def test_a_recorded_stream_holds_what_the_index_counted(recording: Recording):
    assert found(decoded(recording, str(recording.api))) == expected(
        recording.name, INDEX[recording.name]
    )


OTHERS = [r for r in STREAMS if r.api not in OPENAI]


@pytest.mark.parametrize("recording", OTHERS, ids=name_of)
def test_a_recorded_stream_of_another_api_holds_as_many_events_as_the_index(recording: Recording):
    said = decoded(recording, str(recording.api))
    assert said["outcome"] == "complete"
    assert n_events(str(recording.api), said) == int(INDEX[recording.name]["json_events"])
    assert said["output_tokens"] >= said["n_chunks"] > 0
    assert said["kinds"] == {"content": said["n_chunks"]}


@pytest.mark.parametrize("recording", WHOLE, ids=name_of)
def test_a_recorded_answer_in_one_piece_has_an_end_and_no_first_token(recording: Recording):
    said = decoded(recording, str(recording.api))
    assert (said["outcome"], said["form"]) == ("complete", "whole")
    assert "first_token_us" not in said
    assert said["first_byte_us"] <= said["whole_us"] <= said["end_us"]
    assert said["output_tokens"] in (8, 16, 120), "as many as were asked for"


@pytest.mark.parametrize("recording", OPENAIS, ids=name_of)
def test_a_recorded_stream_ended_as_the_index_says(recording: Recording):
    row = INDEX[recording.name]
    said = decoded(recording, str(recording.api))
    assert said["outcome"] == outcome(row)
    assert (said["first_byte_us"], said["end_us"]) == (
        int(row["first_byte_us"]),
        int(row["end_us"]),
    )
    assert f"{said['http_status']} " == row["status"][:4]


REFUSED = [r for r in OURS if not INDEX[r.name]["status"].startswith("200 ")]


@pytest.mark.parametrize("recording", REFUSED, ids=name_of)
def test_a_recorded_refusal_is_told_in_the_servers_own_words(recording: Recording):
    said = decoded(recording, str(recording.api))
    status = INDEX[recording.name]["status"]
    assert (said["outcome"], str(said["http_status"])) == ("http_error", status[:3])
    assert said["detail"]
    assert said["n_chunks"] == 0
    body = b"".join(data for _, data in recording.reads).partition(b"\r\n\r\n")[2]
    assert said["detail"].rstrip('."}').split()[-1].encode() in body


@pytest.mark.parametrize("recording", [r for r in KEPT if not r.api], ids=name_of)
def test_a_recorded_answer_of_another_endpoint_is_never_a_complete_one(recording: Recording):
    for api in APIS:
        said = decoded(recording, api)
        assert said["outcome"] in OUTCOMES
        assert said["outcome"] != "complete"


# Long ones hold nothing that short ones do not.
SHORT = [r for r in OURS if sum(len(data) for _, data in r.reads) < 20_000]


@pytest.mark.parametrize("recording", SHORT, ids=name_of)
def test_a_recording_in_reads_of_a_few_bytes_means_the_same(recording: Recording):
    few = [(us, data[i : i + 11]) for us, data in recording.reads for i in range(0, len(data), 11)]
    whole = decoded(recording, str(recording.api))
    again = decoded(replace(recording, reads=few), str(recording.api))
    for by_reads in ("n_missing_stamps", "n_shared"):
        whole[by_reads] = again[by_reads] = None
    assert again == whole


def test_every_difference_to_the_index_is_one():
    names = {r.name for r in OPENAIS}
    assert names >= set(DIFFERENCES)
    for name in DIFFERENCES:
        as_indexed = expected("", INDEX[name])
        assert as_indexed != expected(name, INDEX[name])


def test_recordings_hold_no_key_and_no_path_of_the_machine_they_were_made_on():
    for recording in KEPT:
        raw = b"".join(data for _, data in recording.reads)
        for secret in (b"sk-", b"/home/", b"/root/", b"/tmp/"):
            assert secret not in raw, recording.name


def test_every_recording_is_indexed():
    assert [r.name for r in KEPT] == sorted(INDEX)


@pytest.mark.skipif(not (BESIDE / "INDEX.tsv").exists(), reason="recordings not present")
def test_the_recordings_beside_the_project_are_those_in_it(is_refreshing: bool):
    there = beside()
    if is_refreshing and there != KEPT:
        keep(there)
        (FOLDER / "INDEX.tsv").write_bytes((BESIDE / "INDEX.tsv").read_bytes())
    assert kept() == there
    assert (FOLDER / "INDEX.tsv").read_bytes() == (BESIDE / "INDEX.tsv").read_bytes()


def test_what_is_kept_reads_back_as_it_was(tmp_path: Path):
    some = [r for r in KEPT if r.server == "transformers"][:3]
    keep(some, tmp_path)
    assert kept(tmp_path) == some
