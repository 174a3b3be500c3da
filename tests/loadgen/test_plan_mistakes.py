"""Plans with every kind of mistake: each is one sentence that names its field."""

import pytest

from loadgen.plan import PlanError, parse

TARGET = {"url": "http://127.0.0.1:8000/v1", "model": "m"}
STAGE = {"concurrency": 1, "seconds": 10}
GOOD = {"target": TARGET, "stages": [STAGE]}
SLO = {"metric": "ttft", "max_ms": 500}
TABLE = {"shape": "table", "points": [[0, 1], [9, 2]]}
CHAT = {"name": "chat"}


def problems(raw):
    with pytest.raises(PlanError) as error:
        parse(raw)
    return error.value.problems


def stage(**fields):
    return {"stages": [{"seconds": 10, **fields}]}


def target(**fields):
    return {"target": {**TARGET, **fields}}


def load(**fields):
    return {"classes": [CHAT, {"name": "batch", "load": fields}]}


def work(**fields):
    return {"workload": fields}


ONE_MISTAKE = {
    # what is missing, misspelled or of another kind
    "no target": ({"target": None}, "target is None; expected a table."),
    "no url": ({"target": {"model": "m"}}, "target.url is missing."),
    "no stages": ({"stages": []}, "stages has 0 entries; expected at least 1."),
    "a misspelt field": (stage(concurency=4), "stages[0].concurency is not a field of a plan; did"),
    "a word of another tool": (stage(users=4), "did you mean concurrency?"),
    "a misspelt table": ({"limit": {}}, "limit is not a field of a plan; did you mean limits?"),
    "a field one table too high": ({"request_s": 5}, "at the top of a plan; it belongs to limits."),
    "a field in the wrong table": (work(url="x"), "is not a field there; target"),
    "a field nobody knows": ({"xyzzy": 1}, "xyzzy is not a field of a plan; check its spelling."),
    "a key in the file": (target(api_key="sk-1"), "target.api_key is not a field of a plan; did"),
    "a text for a number": (work(prompt_tokens="300"), "a whole number without quotes."),
    "a word for a number": ({"seed": "one"}, "seed is 'one'; expected a whole number."),
    "a fraction of a token": (work(output_tokens=1.5), "workload.output_tokens is 1.5; expected a"),
    "true for a number": (stage(concurrency=True), "concurrency is true; expected a whole number."),
    "a text for yes or no": (work(stream="no"), "workload.stream is 'no'; expected true or false."),
    "a number for a text": (target(model=7), "target.model is 7; expected a text in quotes."),
    "a list for a table": ({"target": [TARGET]}, "target is a list; expected a table."),
    "a table for a list": ({"stages": STAGE}, "stages is a table; expected a list."),
    "a number for a table": ({"limits": 5}, "limits is 5; expected a table."),
    "a list for a number": (stage(concurrency=[1, 2]), "stages[0].concurrency is a list; expected"),
    "infinity": ({"limits": {"request_s": float("inf")}}, "limits.request_s"),
    "a name too long": ({"name": "n" * 201}, "name"),
    # targets
    "a url without a scheme": (target(url="localhost:8000"), "target.url is 'localhost:8000'"),
    "a password in the url": (target(url="http://u:p@h"), "holds a user name or password"),
    "a key instead of its name": (target(api_key_env="sk-123"), "is not a variable name"),
    "an unknown api": (target(api="soap"), "target.api is 'soap'; expected one of openai_chat,"),
    "an unknown http": (target(http="3"), "target.http is '3'"),
    "a negative price": (target(prices={"usd_per_m_input": -1}), "target.prices.usd_per_m_input"),
    "a target named main": ({"targets": {"main": TARGET}}, "'main', which is [target]"),
    "a target's name with a blank": ({"targets": {"a b": TARGET}}, "expected letters, digits"),
    "a target without a model": (
        {"targets": {"b": {"url": "http://h"}}, "classes": [{**CHAT, "target": "b"}]},
        "targets.b.model is missing.",
    ),
    "a class's target that is none": (
        {"classes": [{**CHAT, "target": "b"}]},
        "classes[0].target is 'b', which names no target",
    ),
    "a target nobody uses": ({"targets": {"b": TARGET}}, "targets.b is used by no class"),
    # workloads
    "no tokens": (work(prompt_tokens=0), "workload.prompt_tokens is 0; input should be greater"),
    "an unknown distribution": (work(prompt_tokens={"kind": "pareto"}), "is no length; expected"),
    "a distribution without its mean": (
        work(prompt_tokens={"kind": "normal", "sd": 3}),
        "workload.prompt_tokens.mean is missing.",
    ),
    "a distribution upside down": (
        work(output_tokens={"kind": "uniform", "low": 9, "high": 2}),
        "workload.output_tokens has low = 9 above high = 2.",
    ),
    "a clip upside down": (
        work(output_tokens={"kind": "lognormal", "median": 9, "sigma": 1, "low": 5, "high": 2}),
        "workload.output_tokens has low = 5 above high = 2.",
    ),
    "a share above one": (work(prefix={"tokens": 9, "share": 1.5}), "workload.prefix.share is 1.5"),
    "a prefix longer than its prompt": (
        work(prompt_tokens=100, prefix={"tokens": 200}),
        "workload.prefix.tokens is 200, more than workload.prompt_tokens = 100",
    ),
    "a prefix before a file's prompts": (
        work(prefix={"tokens": 9}, file={"path": "p.jsonl"}),
        "workload.prefix is given beside workload.file, whose prompts are sent as they are",
    ),
    "columns of a ShareGPT file": (
        work(file={"path": "p.json", "format": "sharegpt", "prompt_column": "q"}),
        "workload.file.prompt_column is given, but ShareGPT files have no columns",
    ),
    "streaming said twice": (work(extra_body={"stream": True}), "say it as workload.stream"),
    "several inputs of a chat": (work(inputs_per_request=2), "workload.inputs_per_request is 2,"),
    "a conversation with embeddings": (
        {**target(api="openai_embeddings"), **work(conversation={"turns": 3})},
        "workload.conversation is given, but openai_embeddings",
    ),
    "a conversation of no turns": (work(conversation={"turns": 0}), "workload.conversation.turns"),
    "a pause that is none": (
        work(conversation={"turns": 2, "think_s": {"kind": "normal"}}),
        "workload.conversation.think_s is no pause; expected seconds or a table",
    ),
    "no tokenizer to count by": (
        work(count_by="tokenizer"),
        "workload.count_by is 'tokenizer', but target.tokenizer names none.",
    ),
    # classes
    "a class's name that would break lines": (
        {"classes": [{"name": "chat\n\x1b[31m"}]},
        "classes[0].name is 'chat\\n\\x1b[31m'; expected a name without line ends and the like.",
    ),
    "two classes of one name": ({"classes": [CHAT, CHAT]}, "classes[1].name is 'chat', as is"),
    "a workload beside classes": (
        {"classes": [CHAT], **work(output_tokens=5)},
        "workload is given beside classes",
    ),
    "a class's own load of nothing": (load(concurrency=0), "classes[1].load.concurrency is 0;"),
    "a class's own load without a rate": (load(arrivals="constant"), "classes[1].load"),
    "a class's own load with an end": (
        load(rate_per_s=2, seconds=9),
        "classes[1].load.seconds is not a field there; stages and limits know it.",
    ),
    "both kinds of own load": (load(rate_per_s=2, concurrency=9), "a load takes one of them."),
    "bursts of a class without gamma": (load(rate_per_s=2, burstiness=2), "classes[1].load has a"),
    "a share of nothing": ({"classes": [{**CHAT, "share": 0}]}, "classes[0].share is 0;"),
    "nobody for a stage's load": (
        {"classes": [{**CHAT, "load": {"concurrency": 2}}]},
        "stages[0] has a load, but every class brings its own",
    ),
    "only pauses": ({"stages": [{"kind": "idle", "seconds": 5}]}, "nothing would be sent"),
    # stages
    "an unknown kind": (stage(kind="burst"), "stages[0] is not a stage; expected kind ="),
    "both kinds of load": (stage(concurrency=1, rate_per_s=2), "stages[0] has both concurrency"),
    "a stage without an end": ({"stages": [{"concurrency": 1}]}, "stages[0] never ends; give it"),
    "only warm-up": (stage(concurrency=1, warmup_s=10), "leaves nothing of its 10 seconds"),
    "a field of another kind": (
        stage(rate_per_s=1, think_s=2),
        "stages[0].think_s is a field of kind 'closed', and not of this one.",
    ),
    "a search in bursts": (
        {**stage(kind="search", arrivals="gamma"), "slos": [SLO]},
        "stages[0].arrivals is 'gamma'",
    ),
    "bursts without gamma": (stage(rate_per_s=1, burstiness=0.5), "stages[0] has a burstiness"),
    "an unknown shape": (stage(rate_per_s={"shape": "sine"}), "stages[0].rate_per_s is no load;"),
    "a ramp without an end": (
        stage(rate_per_s={"shape": "ramp", "start": 1}),
        "stages[0].rate_per_s.end is missing.",
    ),
    "a ramp without time": (
        {"stages": [{"rate_per_s": {"shape": "ramp", "start": 1, "end": 2}, "requests": 9}]},
        "stages[0] has a load that changes with time, so it needs seconds.",
    ),
    "a load of zero": (
        stage(rate_per_s={"shape": "steps", "values": [0, 0]}),
        "stages[0] has a rate_per_s that is 0 throughout",
    ),
    "a spike after the end": (
        stage(rate_per_s={"shape": "spike", "base": 1, "peak": 9, "at_s": 8, "for_s": 5}),
        "stages[0] has a spike that ends at 13 s, after its 10 seconds.",
    ),
    "a day upside down": (
        stage(rate_per_s={"shape": "day", "low": 5, "high": 1}),
        "stages[0].rate_per_s has low = 5 above high = 1, at its peak_hour.",
    ),
    "a table backwards": (
        stage(rate_per_s={"shape": "table", "points": [[5, 1], [4, 2]]}),
        "stages[0].rate_per_s has points whose times go back",
    ),
    "a table of nothing": (stage(rate_per_s={"shape": "table"}), "needs either points or a file."),
    "a table of two sources": (
        stage(rate_per_s={**TABLE, "file": "t.csv"}),
        "stages[0].rate_per_s needs either points or a file.",
    ),
    "a replay of nothing": (stage(kind="replay"), "stages[0].file is missing."),
    "a window upside down": (
        stage(kind="replay", file="t", from_s=9, to_s=3),
        "stages[0] has to_s = 3, not after from_s = 9.",
    ),
    "a pause by requests": (
        {"stages": [STAGE, {"kind": "idle", "seconds": 5, "requests": 3}]},
        "stages[1].requests is 3, and a stage of this kind has none.",
    ),
    "a sweep of both": (
        stage(kind="sweep", concurrency=[1], rate_per_s=[2.0]),
        "stages[0] needs levels: one of",
    ),
    "a sweep of nothing": (stage(kind="sweep"), "stages[0] needs levels: one of"),
    "a sweep of one number": (stage(kind="sweep", concurrency=4), "expected a list."),
    "a doubling that cannot begin": (
        stage(kind="sweep", doubling={"start": 9, "most": 3}),
        "stages[0].doubling has start = 9 above most = 3.",
    ),
    "a doubling of half a stream": (
        stage(kind="sweep", doubling={"start": 0.5}),
        "stages[0].doubling has start = 0.5, and streams come in whole numbers.",
    ),
    "a search upside down": (
        {**stage(kind="search", low=9, high=3), "slos": [SLO]},
        "stages[0] has low = 9 above high = 3.",
    ),
    "a search for nothing": (stage(kind="search"), "stages[0] is a search for the largest load"),
    # objectives
    "an unknown metric": ({"slos": [{"metric": "ttfb", "max_ms": 5}]}, "slos[0].metric is 'ttfb'"),
    "a percentile of 100": ({"slos": [{**SLO, "percentile": 100}]}, "slos[0].percentile is 100;"),
    "an objective twice": ({"slos": [SLO, {**SLO, "max_ms": 9}]}, "slos[1] limits ttft p95, as"),
    "a first token of one piece": (
        {**work(stream=False), "slos": [SLO]},
        "slos[0].metric is 'ttft', but answers in one piece",
    ),
    # limits and machines
    "a share of failures that is none": ({"limits": {"failed_share": 1}}, "limits.failed_share"),
    "dollars without prices": (
        {"limits": {"dollars": 5}},
        "limits.dollars is 5, but target.prices",
    ),
    "more requests than the limit": (
        {"stages": [{"concurrency": 1, "requests": 90}] * 2, "limits": {"requests": 100}},
        "limits.requests is 100, but the stages ask for 180 in all",
    ),
    "more seconds than the limit": (
        {**stage(kind="sweep", concurrency=[1, 2]), "limits": {"seconds": 15}},
        "limits.seconds is 15, but the stages last 20 s in all",
    ),
    "nobody to send": ({"workers": 0}, "workers is 0 and no [machines] are given"),
    "machines without a number": ({"machines": {}}, "machines.workers is missing."),
    "a port anybody reaches": (
        {"machines": {"workers": 1, "bind": "0.0.0.0"}},
        "machines.secret_env is missing: machines.bind is '0.0.0.0'",
    ),
    "a port that is none": ({"machines": {"workers": 1, "port": 70_000}}, "machines.port is 70000"),
    "a secret instead of its name": (
        {"machines": {"workers": 1, "secret_env": "my secret"}},
        "machines.secret_env is not a variable name",
    ),
}


@pytest.mark.parametrize("name", ONE_MISTAKE)
def test_a_mistake_is_one_sentence_that_names_its_field(name):
    change, words = ONE_MISTAKE[name]
    told = problems({**GOOD, **change})
    assert len(told) == 1, told
    assert words in told[0]
    assert told[0].endswith((".", "?"))
    assert not any(noise in told[0] for noise in ("OwnClosed", "OwnOpen", "Value error", "[key]"))


def test_all_mistakes_of_all_parts_are_told_in_one_answer():
    changes = [change for change, _ in ONE_MISTAKE.values()]
    bad = {
        "seed": "one",
        "nmae": "x",
        "target": {"url": "localhost", "api": "soap"},
        "targets": {"b": {"url": "http://h"}},
        "classes": [
            {"name": "chat", "share": 0, "target": "c"},
            {"name": "chat", "load": {"concurrency": 0}, "workload": {"prefix": {"tokens": 0}}},
        ],
        "stages": [{"concurrency": 0}, {"kind": "sweep", "seconds": 5}, {"rate_per_s": 1}],
        "slos": [{"metric": "ttft", "percentile": 101}],
        "limits": {"request_s": -1},
    }
    told = problems(bad)
    for words in (
        "seed is 'one'",
        "nmae is not a field of a plan; did you mean name?",
        "target.url is 'localhost'",
        "target.model is missing",
        "target.api is 'soap'",
        "targets.b.model is missing",
        "targets.b is used by no class",
        "classes[0].share is 0",
        "classes[0].target is 'c'",
        "classes[1].name is 'chat'",
        "classes[1].load.concurrency is 0",
        "classes[1].workload.prefix.tokens is 0",
        "stages[0].concurrency is 0",
        "stages[0] never ends",
        "stages[1] needs levels",
        "stages[2] never ends",
        "slos[0].percentile is 101",
        "slos[0].max_ms is missing",
        "limits.request_s is -1",
    ):
        assert any(words in sentence for sentence in told), (words, told)
    assert len(told) == 19, told
    assert len(changes) > 60


@pytest.mark.parametrize(
    ("change", "told"),
    [
        # the end was misspelt, so it is not missing too
        ({"stages": [{"concurrency": 1, "secnds": 9}]}, ["stages[0].secnds"]),
        # which target the class means nobody knows, so nothing is said of its API
        (
            {"classes": [{"name": "a", "target": "b", "workload": {"inputs_per_request": 2}}]},
            ["classes[0].target"],
        ),
        ({"slos": [{**SLO, "max_ms": 0}], "stages": [{"kind": "search"}]}, ["slos[0].max_ms"]),
        ({"stages": [{"concurrency": 1, "seconds": 0, "warmup_s": 5}]}, ["stages[0].seconds"]),
        # an open stage stays one, however much of its shape is missing
        (
            stage(rate_per_s={"shape": "ramp"}),
            ["stages[0].rate_per_s.start", "stages[0].rate_per_s.end"],
        ),
    ],
)
def test_a_consequence_of_a_mistake_is_not_another_one(change, told):
    assert [sentence.split(" ", 1)[0] for sentence in problems({**GOOD, **change})] == told


def test_what_was_given_is_not_changed_by_judging_it():
    raw = {**GOOD, "stages": [{"concurrency": 0}]}
    problems(raw)
    assert raw["stages"] == [{"concurrency": 0}]
