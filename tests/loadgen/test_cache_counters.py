"""A server's own counters of its prefix cache."""

from loadgen.cache_counters import CacheCounters, cache_counters, cache_use, counters_of

TEXT = """# HELP vllm:prefix_cache_queries_total tokens
# TYPE vllm:prefix_cache_queries_total counter
vllm:prefix_cache_queries_total{engine="0",model_name="m"} 100.0
vllm:prefix_cache_queries_total{engine="1",model_name="m"} 20.0
vllm:prefix_cache_queries_created{engine="0"} 1.7e9
vllm:prefix_cache_hits_total{engine="0",model_name="m"} 64.0
vllm:prefix_cache_hits_total{engine="1",model_name="m"} 1.6e1 1700000000
broken{ 7
vllm:odd NaNs
"""


def test_the_counters_of_all_engines_are_summed():
    assert counters_of(TEXT) == CacheCounters(120, 80, "vllm:prefix_cache_hits_total")


def test_a_text_without_the_pair_tells_nothing():
    assert counters_of("vllm:prefix_cache_hits_total 5\n") is None
    assert counters_of("") is None


def test_what_was_used_is_the_difference_of_two_readings():
    before, after = CacheCounters(100, 10, "x"), CacheCounters(300, 60, "x")
    assert cache_use(before, after) == {"looked_up": 200, "found": 50, "name": "x"}
    assert cache_use(before, before) == {"looked_up": 0, "found": 0, "name": "x"}


def test_a_server_started_again_in_between_is_not_known():
    assert cache_use(CacheCounters(100, 10, "x"), CacheCounters(30, 1, "x")) is None
    assert cache_use(None, CacheCounters(30, 1, "x")) is None


def test_a_server_that_cannot_be_reached_has_no_counters():
    assert cache_counters({"url": "http://127.0.0.1:1/v1"}) is None
    assert cache_counters({"url": "sim://null"}) is None
