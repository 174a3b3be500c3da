"""One HTTP/1.1 response: the same body whatever the reads are."""

import pytest

from loadgen.http_body import HttpAnswer

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNKED = HEAD + b"3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\nTrailer: x\r\n\r\n"
LENGTH = b"HTTP/1.1 200 Fine\r\nContent-Length: 5\r\n\r\nabcde"
UNTIL_CLOSE = b"HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream; charset=utf-8\r\n\r\nabcde"


@pytest.mark.parametrize("answer", [CHUNKED, LENGTH, UNTIL_CLOSE])
def test_any_cut_of_an_answer_gives_the_same_body(answer: bytes):
    for cut in range(len(answer) + 1):
        http = HttpAnswer()
        body = b"".join(http.feed(answer[:cut]) + http.feed(answer[cut:]))
        assert body == b"abcde"
        assert (http.status, http.problem) == (200, None)
        assert http.complete is (answer is not UNTIL_CLOSE)
        assert http.ends_at_close is (answer is UNTIL_CLOSE)


def test_the_head_is_kept():
    http = HttpAnswer()
    http.feed(b"HTTP/1.1 503 Service Unavail")
    assert http.status is None
    http.feed(b"able\r\nRETRY-After: 2\r\nContent-Encoding: GZip\r\n\r\n")
    assert (http.status, http.reason) == (503, "Service Unavailable")
    assert http.headers["retry-after"] == "2"
    assert http.coding == "gzip"
    assert not http.is_success


def test_the_media_type_is_lower_case_without_parameters():
    http = HttpAnswer()
    http.feed(UNTIL_CLOSE)
    assert http.content_type == "text/event-stream"
    assert http.coding is None


def test_interim_answers_are_not_the_answer():
    http = HttpAnswer()
    assert http.feed(b"HTTP/1.1 100 Continue\r\nX-Interim: 1\r\n\r\n") == []
    assert http.status is None
    assert http.feed(LENGTH) == [b"abcde"]
    assert "x-interim" not in http.headers


@pytest.mark.parametrize("more", [b"rubbish", LENGTH, b"\r\n"])
def test_bytes_after_the_answer_do_not_change_it(more: bytes):
    http = HttpAnswer()
    assert http.feed(LENGTH + more) == [b"abcde"]
    assert http.feed(more) == []
    assert (http.status, http.problem, http.reason) == (200, None, "Fine")


def test_a_chunk_is_a_piece_at_once_even_if_half():
    http = HttpAnswer()
    assert http.feed(HEAD + b"5\r\nab") == [b"ab"]
    assert http.feed(b"c") == [b"c"]


@pytest.mark.parametrize(
    ("wire", "piece"),
    [
        (b"HTTP/1.1 200 ", b"x" * 65_536),
        (b"HTTP/1.1 200 OK\r\nA: ", b"x" * 65_536),
        (b"HTTP/1.1 200 OK\r\nA", b"x" * 65_536),
        (b"HTTP/1.1 200 OK\r\n", b"A: x\r\n" * 10_000),
        (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 3_000),
        (HEAD + b"3\r\nabc\r\n0\r\n", b"A: x\r\n" * 10_000),
    ],
    ids=["reason", "value", "name", "lines", "interim heads", "trailers"],
)
def test_a_head_without_an_end_is_not_kept(wire: bytes, piece: bytes):
    http = HttpAnswer()
    http.feed(wire)
    for _ in range(9):
        http.feed(piece)
    assert http.problem == "The answer's head is longer than 256 KiB."


def test_a_long_body_in_small_pieces_is_no_long_head():
    http = HttpAnswer()
    http.feed(HEAD)
    assert sum(len(http.feed(b"1\r\nx\r\n" * 9999)) for _ in range(9)) == 9 * 9999
    assert http.problem is None


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        (b"SSH-2.0-OpenSSH_9\r\n", b""),
        (HEAD + b"3\r\nabc\r\nxyz\r\n", b"abc"),
        (b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n\x00", b""),
    ],
)
def test_a_problem_is_one_sentence_and_the_body_before_it_stays(wire: bytes, body: bytes):
    http = HttpAnswer()
    assert b"".join(http.feed(wire)) == body
    assert http.problem is not None
    assert http.problem.endswith(".")
    assert http.feed(LENGTH) == []
