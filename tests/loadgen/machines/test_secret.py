"""Who may join, and what a secret must be."""

import pytest

from loadgen.machines.secret import SecretError, is_loopback, keys_for, leader_keys

GOOD = {"LOAD_SECRET": "a-secret-of-enough-length"}


@pytest.mark.parametrize(
    ("bind", "expected"),
    [
        ("127.0.0.1", True),
        ("127.0.0.7", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("*", False),
        ("10.1.2.3", False),
        ("leader.example", False),
    ],
)
def test_only_loopback_addresses_are_out_of_others_reach(bind, expected):
    assert is_loopback(bind) is expected


def test_beyond_loopback_a_secret_is_required():
    with pytest.raises(SecretError, match=r"machines.bind is '0.0.0.0'.*secret_env names no"):
        keys_for("0.0.0.0", None, {})


def test_on_loopback_none_is_needed_but_one_that_is_named_counts():
    assert keys_for("127.0.0.1", None, {}) is None
    assert keys_for("127.0.0.1", "LOAD_SECRET", GOOD) == leader_keys(GOOD["LOAD_SECRET"])


def test_a_variable_that_is_not_set_is_named():
    with pytest.raises(SecretError, match=r"LOAD_SECRET with the secret .* is not set here"):
        keys_for("127.0.0.1", "LOAD_SECRET", {"LOAD_SECRET": ""})


def test_a_short_secret_is_refused_and_not_repeated():
    with pytest.raises(SecretError, match="has 6 characters") as refused:
        keys_for("127.0.0.1", "LOAD_SECRET", {"LOAD_SECRET": "sesame"})
    assert "sesame" not in str(refused.value)


def test_the_same_secret_makes_the_same_keys_and_they_are_not_printed():
    keys = leader_keys("a-secret-of-enough-length")
    assert keys == leader_keys("a-secret-of-enough-length")
    assert keys != leader_keys("another-secret-of-a-length")
    assert keys.private.decode() not in repr(keys)
