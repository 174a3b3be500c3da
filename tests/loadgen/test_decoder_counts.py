"""With a tokenizer, the decoder counts each answer's tokens once, when everything is decoded."""

import errno
import json
from pathlib import Path

import pytest
from raw_runs import MadeUpStore, RawRun, check_all_is_there
from test_decoder import decode_until_killed, three_segments
from tokenizers_made import save_tokenizer

import loadgen.answer_texts
import loadgen.decoder
from loadgen.answer_texts import count_texts, keep_texts, texts_path
from loadgen.decoder import decode_run
from loadgen.tokenizer import load
from storage.column_spool import decoded_mark


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tokenizer(tmp_path_factory.mktemp("made") / "tokenizer.json")


@pytest.fixture
def run(tmp_path: Path, tokenizer: Path) -> RawRun:
    run = RawRun(tmp_path)
    plan = {"target": {"tokenizer": str(tokenizer)}}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    (tmp_path / "status.json").write_text(json.dumps({"state": "decoding"}))
    return run


def test_the_tokens_of_each_answer_are_counted_when_all_is_decoded(run: RawRun):
    three_segments(run)
    store = MadeUpStore(run.run_dir)
    decode_run(run.run_dir, 0)
    store.ingest()
    check_all_is_there(run, store)
    assert store.counts == {k: n for k, n in run.n_tokens.items() if n}, "a word is a token"
    assert not texts_path(run.spool, 0).exists()


def test_without_a_tokenizer_no_text_is_kept(run: RawRun, monkeypatch: pytest.MonkeyPatch):
    (run.run_dir / "plan.json").write_text('{"target": {"tokenizer": null}}')
    monkeypatch.setattr(loadgen.decoder, "keep_texts", None)
    three_segments(run)
    store = MadeUpStore(run.run_dir)
    decode_run(run.run_dir, 0)
    store.ingest()
    check_all_is_there(run, store)
    assert store.counts is None


def test_a_tokenizer_that_is_gone_costs_the_counts_alone(
    run: RawRun, caplog: pytest.LogCaptureFixture
):
    (run.run_dir / "plan.json").write_text('{"target": {"tokenizer": "/gone.json"}}')
    three_segments(run)
    store = MadeUpStore(run.run_dir)
    decode_run(run.run_dir, 0)
    store.ingest()
    check_all_is_there(run, store)
    assert store.counts is None
    assert "There is no tokenizer /gone.json." in caplog.text
    assert not texts_path(run.spool, 0).exists()


@pytest.mark.parametrize("n_calls", range(34))
@pytest.mark.parametrize("store_is_quick", [True, False])
def test_killed_at_any_call_the_counts_are_whole_and_there_once(
    run: RawRun, n_calls: int, store_is_quick: bool, monkeypatch: pytest.MonkeyPatch
):
    three_segments(run)
    store = MadeUpStore(run.run_dir)
    was_killed = not decode_until_killed(run, n_calls, monkeypatch)
    assert was_killed or n_calls > 20
    if store_is_quick:
        store.ingest()
    if not decoded_mark(run.spool, 0).exists():
        assert decode_until_killed(run, 10**6, monkeypatch)
    store.ingest()
    assert store.counts == {k: n for k, n in run.n_tokens.items() if n}
    assert sorted(store.rows) == sorted(run.n_tokens)
    assert not texts_path(run.spool, 0).exists(), "answers are nobody's business afterwards"


def test_killed_at_every_call_in_turn_the_counts_still_come(
    run: RawRun, monkeypatch: pytest.MonkeyPatch
):
    three_segments(run)
    store = MadeUpStore(run.run_dir)
    for n_calls in range(200):
        if decode_until_killed(run, n_calls, monkeypatch):
            break
    store.ingest()
    assert store.counts == {k: n for k, n in run.n_tokens.items() if n}


def test_a_full_disk_is_waited_out_with_the_texts_too(run: RawRun, monkeypatch: pytest.MonkeyPatch):
    three_segments(run)
    append, waits = loadgen.answer_texts.append_lines, list[float]()

    def full(path: Path, lines: bytes) -> None:
        if len(waits) < 2:
            append(path, lines[: len(lines) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        append(path, lines)

    monkeypatch.setattr(loadgen.answer_texts, "append_lines", full)
    monkeypatch.setattr(loadgen.decoder.time, "sleep", waits.append)
    store = MadeUpStore(run.run_dir)
    decode_run(run.run_dir, 0)
    store.ingest()
    assert waits[:2] == [1.0, 1.0]
    assert store.counts == {k: n for k, n in run.n_tokens.items() if n}


def test_texts_are_counted_in_batches_of_bounded_size(
    tmp_path: Path, tokenizer: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "texts.jsonl"
    keep_texts(path, [(k, ["one two", "three"]) for k in range(10)])
    keep_texts(path, [(3, ["one two", "three"]), (70_000, [])])
    monkeypatch.setattr(loadgen.answer_texts, "BATCH_CHARS", 20)
    counts = count_texts(path, load(str(tokenizer)))
    assert counts.tolist() == [(k, 3) for k in range(10)] + [(70_000, 0)]


def test_a_line_that_a_killed_decoder_left_half_is_passed_over(tmp_path: Path, tokenizer: Path):
    path = tmp_path / "texts.jsonl"
    path.write_bytes(b'[1, ["one tw')
    keep_texts(path, [(1, ["one two"])])
    assert count_texts(path, load(str(tokenizer))).tolist() == [(1, 2)]


@pytest.mark.parametrize(
    ("text", "n"), [("a \ud83d\ude00 b", 3), ("a \ud83d b", 3), ("a\u2028b\x00", 2)]
)
def test_odd_text_is_counted_like_any_other(tmp_path: Path, tokenizer: Path, text: str, n: int):
    path = tmp_path / "texts.jsonl"
    keep_texts(path, [(1, [text])])
    assert abs(int(count_texts(path, load(str(tokenizer)))["n_tokens"][0]) - n) <= 1


def test_each_targets_texts_are_counted_by_its_own_tokenizer(tmp_path: Path, tokenizer: Path):
    path = texts_path(tmp_path, 0)
    keep_texts(path, [(1, ["one two"]), (4, ["three"])])
    keep_texts(path, [(2, ["one two three"])], tokenizer=1)
    words = load(str(tokenizer))
    assert count_texts(path, words, words).tolist() == [(1, 2), (2, 3), (4, 1)]
    assert count_texts(path, None, words).tolist() == [(2, 3)]
