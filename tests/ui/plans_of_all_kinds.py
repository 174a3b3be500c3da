"""Plans that use every field there is, as plain values: the form and the files must hold them."""

from typing import Any

TARGET = {"url": "http://localhost:8000/v1", "model": "m"}
END = {"seconds": 10}

WORKLOADS: dict[str, dict[str, Any]] = {
    "spreads": {
        "prompt_tokens": {"kind": "lognormal", "median": 300, "sigma": 0.8, "high": 4000},
        "output_tokens": {"kind": "normal", "mean": 120, "sd": 30, "low": 5},
    },
    "more spreads": {
        "prompt_tokens": {"kind": "uniform", "low": 10, "high": 99},
        "output_tokens": {"kind": "file", "path": "lengths.csv", "column": "out"},
    },
    "talk": {
        "prompt_tokens": 600,
        "conversation": {
            "turns": {"kind": "uniform", "low": 2, "high": 8},
            "think_s": {"kind": "lognormal", "median": 4.5, "sigma": 0.7},
        },
        "prefix": {"tokens": 500, "share": 0.9, "groups": 4},
        "unique_prompts": False,
    },
    "files": {
        "file": {
            "path": "prompts.jsonl",
            "format": "jsonl",
            "prompt_column": "q",
            "output_column": "n",
            "order": "shuffled",
        },
        "count_by": "server",
        "ignore_eos": False,
        "extra_body": {"temperature": 0, "stop": ["\n"], "deep": {"a b": True}},
    },
    "in one piece": {"stream": False},
}

STAGES: dict[str, list[dict[str, Any]]] = {
    "levels": [{"concurrency": n, "requests": 50, "warmup_s": 2} for n in (1, 2, 4)],
    "rates": [{"rate_per_s": r, "arrivals": "gamma", "burstiness": 0.5, **END} for r in (0.5, 2)],
    "think": [{"concurrency": 4, "think_s": {"kind": "exponential", "mean": 2.5}, **END}],
    "ramp": [{"rate_per_s": {"shape": "ramp", "start": 1, "end": 9.5}, **END}],
    "ramp of streams": [{"concurrency": {"shape": "ramp", "start": 1, "end": 9}, **END}],
    "steps": [{"concurrency": {"shape": "steps", "values": [1, 4, 2.5]}, **END}],
    "spike": [
        {
            "rate_per_s": {"shape": "spike", "base": 1, "peak": 8, "at_s": 3, "for_s": 2},
            "arrivals": "constant",
            **END,
        }
    ],
    "day": [{"rate_per_s": {"shape": "day", "low": 0.5, "high": 5, "peak_hour": 12.5}, **END}],
    "table": [{"rate_per_s": {"shape": "table", "points": [[0, 1], [4.5, 7], [9, 0]]}, **END}],
    "table in a file": [{"concurrency": {"shape": "table", "file": "load.csv"}, **END}],
    "sweep": [{"kind": "sweep", "concurrency": [1, 2, 8], "seconds": 5, "requests": 100}],
    "sweep of rates": [{"kind": "sweep", "rate_per_s": [1.5, 3], "arrivals": "constant", **END}],
    "doubling": [
        {
            "kind": "sweep",
            "doubling": {"over": "rate_per_s", "start": 0.5, "most": 64, "least_gain": 0.1},
            **END,
        }
    ],
    "search": [
        {
            "kind": "search",
            "over": "rate_per_s",
            "low": 0.5,
            "high": 99.5,
            "tolerance": 0.05,
            "confidence": 0.9,
            "seconds": 30,
            "most_requests": 500,
            "warmup_s": 1,
            "arrivals": "constant",
        }
    ],
    "replay": [
        {
            "kind": "replay",
            "file": "trace.csv",
            "format": "azure",
            "speed": 2.5,
            "from_s": 60,
            "to_s": 120,
            "scale": 0.5,
            "grid": "spread",
            "requests": 1000,
            "seconds": 20,
        }
    ],
}

EVERYTHING: dict[str, Any] = {
    "name": 'all "of" it\nü',
    "seed": 7,
    "target": {
        **TARGET,
        "api": "anthropic_messages",
        "api_key_env": "THE_KEY",
        "verify_tls": False,
        "ca_file": "a.pem",
        "http": "1.1",
        "tokenizer": "tok.json",
        "prices": {"usd_per_m_input": 0.5, "usd_per_m_output": 1.25},
    },
    "targets": {
        "b": {"url": "https://b.example/v1", "model": "n", "prices": {"usd_per_m_output": 2}}
    },
    "classes": [
        {
            "name": "chat",
            "share": 3,
            "workload": {
                **WORKLOADS["talk"],
                "output_tokens": {"kind": "uniform", "low": 1, "high": 9},
            },
            "slos": [{"metric": "ttft", "percentile": 99, "max_ms": 300}],
        },
        {"name": "batch", "target": "b", "load": {"concurrency": 4, "think_s": 1}, "slos": []},
        {
            "name": "cron",
            "load": {"rate_per_s": 0.5, "arrivals": "gamma", "burstiness": 0.5},
            "workload": {**WORKLOADS["files"], "stream": False},
            "slos": [{"metric": "e2e", "max_ms": 9000}],
        },
    ],
    "stages": [
        {"concurrency": 2, "seconds": 5},
        {"kind": "idle", "seconds": 3},
        *STAGES["ramp"],
        *STAGES["replay"],
        *STAGES["levels"],
    ],
    "slos": [
        {"metric": "ttft", "percentile": 95, "max_ms": 500},
        {"metric": "tpot", "percentile": 50, "max_ms": 40},
    ],
    "limits": {
        "max_in_flight": 100,
        "request_s": 60,
        "silence_s": 30,
        "connect_s": 5,
        "drain_s": 10,
        "failed_at_start": 5,
        "failed_in_a_row": 9,
        "failed_share": 0.1,
        "requests": 1000,
        "seconds": 90,
        "tokens": 10_000,
        "dollars": 1.5,
    },
    "workers": 2,
    "machines": {
        "workers": 3,
        "bind": "127.0.0.2",
        "port": 0,
        "secret_env": "SECRET",
        "wait_s": 30,
        "when_lost": "go_on",
    },
    "connections": "cold",
}

SLOS = [{"metric": "ttft", "max_ms": 500}]
ONE_LEVEL: dict[str, Any] = {"target": TARGET, "stages": [{"concurrency": 1, "seconds": 10}]}
PLANS: dict[str, dict[str, Any]] = {
    "one level": ONE_LEVEL,
    "everything": EVERYTHING,
    **{name: {**ONE_LEVEL, "workload": work} for name, work in WORKLOADS.items()},
    **{name: {**ONE_LEVEL, "stages": stages, "slos": SLOS} for name, stages in STAGES.items()},
}
"""name -> a plan that loadgen.plan.parse takes."""
