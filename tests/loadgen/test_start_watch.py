"""The leader reads in the live lines whether the first answers were good."""

from loadgen.start_watch import StartWatch


def line(outcomes, detail=None, first_tokens=0):
    failed = [name for name in outcomes if name != "complete"]
    error = {"outcome": failed[0], "detail": detail} if failed else None
    return {"outcomes": outcomes, "ttft": {"40": first_tokens}, "last_error": error}


def watch(*lines, limit=3):
    watching = StartWatch(limit)
    watching.add(list(lines))
    return watching


def test_errors_inside_a_200_are_hopeless_with_the_servers_words():
    seen = watch(line({"stream_error": 2}, "boom"), line({"stream_error": 1}, "CUDA is gone."))
    why = seen.hopeless()
    assert why == "All of the first 3 requests failed, 3 of them as stream_error"
    assert seen.explained(why, 200, None) == (
        "All of the first 3 requests failed, 3 of them as stream_error (CUDA is gone). "
        "See the server's own log."
    )


def test_answers_without_a_token_are_hopeless_though_each_was_a_200():
    assert watch(line({"empty": 4})).hopeless()


def test_a_complete_answer_ends_the_watch():
    seen = watch(line({"stream_error": 9, "complete": 1}))
    assert not seen.is_open
    assert seen.hopeless() is None
    assert seen.all_failed() is None


def test_what_we_ended_or_never_sent_is_no_failure():
    seen = watch(line({"cancelled": 50, "not_sent": 900, "empty": 2}))
    assert seen.hopeless() is None
    assert seen.all_failed() is None


def test_failures_that_the_workers_see_themselves_are_left_to_them_until_the_end():
    seen = watch(line({"rate_limited": 30}, "slow down"))
    assert seen.hopeless() is None
    assert seen.all_failed() == "All of the first 30 requests failed, 30 of them as rate_limited"


def test_streams_that_have_begun_well_are_waited_for():
    assert watch(line({"stream_error": 5}, first_tokens=6)).hopeless() is None
    assert watch(line({"stream_error": 5}, first_tokens=5)).hopeless()  # the same ones


def test_words_that_the_sentence_has_already_are_not_said_twice():
    seen = watch(line({"connect_failed": 3}, "h:1 refused the connection."))
    why = "The first 3 requests failed alike: connect_failed: h:1 refused the connection"
    assert seen.explained(why, None, None) == f"{why}."


def test_a_refused_key_is_named():
    seen = watch(line({"http_error": 3}, "bad key"))
    said = seen.explained("The first 3 requests failed alike: HTTP 401", 401, "MY_KEY")
    assert said.endswith("HTTP 401 (bad key). Check the key in the environment variable MY_KEY.")


def test_the_words_are_those_of_the_outcome_that_the_sentence_names():
    seen = watch(
        line({"stream_error": 3}, "CUDA is gone."), line({"http_error": 2}, "Bad gateway.")
    )
    why = seen.all_failed()
    assert why == "All of the first 5 requests failed, 3 of them as stream_error"
    assert seen.explained(why, None, None) == f"{why} (CUDA is gone). See the server's own log."
