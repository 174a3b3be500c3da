"""What to do about a failed request: one sentence that is true of each failure of its kind."""

from loadgen.advice import advice


def test_a_proxy_that_wants_a_password_is_not_taken_for_a_wrong_model():
    said = advice("http_error", 407, None)
    assert "USER:PASSWORD" in said
    assert "target." not in said


def test_what_is_malformed_need_not_be_another_api():
    """A broken gzip body or HTTP chunk, or a web page, is no sign of it."""
    said = advice("malformed", 200, None)
    assert "target.api" in said
    assert "does not look like" not in said


def test_a_refused_key_is_named_by_its_variable():
    assert "MY_KEY" in advice("http_error", 401, "MY_KEY")
    assert "target.api_key_env" in advice("http_error", 403, None)


def test_what_says_it_all_by_itself_gets_no_advice():
    assert advice("connect_failed", None, None) == ""
