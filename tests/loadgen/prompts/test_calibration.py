"""A server is asked for token counts in its own way, a few times, and prompts are exact by it."""

import time

import pytest
from counting_server import TEMPLATE_TOKENS, counting_server
from made_tokenizers import MADE

from loadgen.calibration import TokenizeCounter, root_of, tokens_told
from loadgen.counters import stock_of, tokenizer_of
from loadgen.plan import PlanError, parse
from loadgen.preflight import preflight
from loadgen.prompts.counting import CannotCount
from loadgen.prompts.stock import Stock
from loadgen.prompts.synthetic import Numbering

slow = pytest.mark.slow
NUMBER = Numbering("prompt", 0, 0)


def nothing() -> None:
    pass


def plan_of(url, target=None, **workload):
    return parse(
        {
            "target": {"url": url, "model": "m", **(target or {})},
            "workload": {"prompt_tokens": 64, "stream": False, **workload},
            "stages": [{"concurrency": 1, "requests": 1}],
        }
    )


def run_of(plan):
    run = {"run_uid": "u", "target_url": plan.target.url, "t0_mono_ns": time.monotonic_ns()}
    return run | {"http": "1.1", "preflight": preflight(plan, run).to_dict()}


def made(url, target=None, **workload) -> Stock:
    plan = plan_of(url, target, **workload)
    return stock_of(plan, run_of(plan), 0, tokenizer_of(plan, 0, nothing), nothing)


def counted(stock, tokenizer, lengths):
    synthetic = stock.synthetic("run")
    return [len(tokenizer.encode(synthetic.text(NUMBER(i), n)).ids) for i, n in enumerate(lengths)]


@slow
@pytest.mark.parametrize("field", ["prompt", "content", "inputs"])
def test_tokenize_is_asked_as_each_server_wants_it(field):
    tokenizer = MADE["byte_level_bpe"]()
    with counting_server(tokenizer, field) as (url, paths):
        stock = made(f"{url}/v1")
    assert (stock.facts.counted_by, stock.facts.off) == ("server", (0, 0))
    assert stock.facts.counter == f"{url.removeprefix('http://')}/tokenize"
    assert stock.facts.overhead_tokens == TEMPLATE_TOKENS
    assert counted(stock, tokenizer, [1, 7, 64, 300]) == [1, 7, 64, 300]
    assert paths.count("/tokenize") <= 255
    assert paths.count("/v1/chat/completions") == 1  # the preflight's


@slow
@pytest.mark.parametrize("name", ["byte_level_bpe", "few_merges"])
def test_a_server_without_tokenize_is_asked_for_the_usage_of_a_few_short_requests(name):
    tokenizer = MADE[name]()
    with counting_server(tokenizer) as (url, paths):
        stock = made(url)
    assert (stock.facts.counted_by, stock.facts.off) == ("server", (0, 0))
    assert stock.facts.overhead_tokens == TEMPLATE_TOKENS
    assert counted(stock, tokenizer, [1, 7, 64, 300]) == [1, 7, 64, 300]
    assert paths.count("/tokenize") == 1
    assert paths.count("/v1/chat/completions") <= 41


@slow
def test_a_server_that_counts_nothing_leaves_words_and_says_so():
    with counting_server(MADE["byte_level_bpe"](), usage=False) as (url, _):
        stock = made(url)
        assert stock.facts.counted_by == "words"
        assert "each word of a prompt is taken for one token" in (stock.facts.note or "")
        with pytest.raises(PlanError) as error:
            made(url, count_by="server")
    assert error.value.problems == [
        f"workload.count_by is 'server': {url.removeprefix('http://')}/tokenize counts no tokens "
        "(answers 404). Its answers tell no usage either."
    ]


@slow
def test_whoever_stops_the_run_stops_the_asking():
    with counting_server(MADE["byte_level_bpe"](), "prompt") as (url, paths):
        plan = plan_of(url)
        run = run_of(plan)

        def stop_after_ten():
            if len(paths) > 10:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            stock_of(plan, run, 0, None, stop_after_ten)
    assert len(paths) == 11


@slow
def test_a_tokenizer_of_the_plan_is_asked_instead_of_the_server(tmp_path):
    file = tmp_path / "tokenizer.json"
    MADE["byte_level_bpe"]().save(str(file))
    with counting_server(MADE["byte_level_bpe"](), "prompt") as (url, paths):
        stock = made(url, {"tokenizer": str(file)})
    assert stock.facts.counted_by == "tokenizer"
    assert stock.facts.overhead_tokens == TEMPLATE_TOKENS
    assert paths == ["/v1/chat/completions"]


@slow
def test_words_are_counted_without_asking_anybody_where_the_plan_says_so():
    with counting_server(MADE["byte_level_bpe"](), "prompt") as (url, paths):
        assert made(url, count_by="words").facts.counted_by == "words"
    assert paths == ["/v1/chat/completions"]


@slow
def test_a_server_nobody_reaches_cannot_count():
    plan = plan_of("http://127.0.0.1:9")
    run = {"run_uid": "u", "target_url": plan.target.url, "t0_mono_ns": 0, "http": "1.1"}
    with pytest.raises(CannotCount, match=r"127\.0\.0\.1:9/tokenize counts no tokens \(.*refused"):
        TokenizeCounter(plan, run, 0)


@pytest.mark.parametrize(
    "url",
    [
        "http://h:1/x",
        "http://h:1/x/",
        "http://h:1/x/v1",
        "http://h:1/x/v1/chat/completions?a=b",
        "http://h:1/x/v1/messages",
        "http://h:1/x/generate_stream",
    ],
)
def test_tokenize_lies_at_the_servers_root(url):
    assert root_of(url).rstrip("/") == "http://h:1/x"


@pytest.mark.parametrize(
    ("body", "n"),
    [
        (b'{"count": 3, "tokens": [1, 2, 3]}', 3),
        (b'{"tokens": [1, 2]}', 2),
        (b'[{"id": 5}]', 1),
        (b'{"error": "no"}', None),
        (b'{"count": true}', None),
        (b"<html>", None),
        (b"5", None),
    ],
)
def test_answers_that_tell_no_count_are_none(body, n):
    assert tokens_told(body) == n
