"""Each way a connection fails names the place and what to do."""

import errno
import os
import socket
import ssl

import pytest

from loadgen.transport import trouble
from loadgen.transport.endpoint import Endpoint

ENDPOINT = Endpoint("https", "10.1.2.3", 8000)


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (errno.ECONNREFUSED, "Start the server or correct the port"),
        (errno.ENETUNREACH, "this machine's network"),
        (errno.EHOSTUNREACH, "that the machine is up"),
        (errno.ECONNRESET, "takes more connections"),
        (errno.EADDRNOTAVAIL, "fewer streams"),
        (errno.EMFILE, "ulimit -n"),
        (errno.EACCES, "Permission denied"),
    ],
)
def test_a_failed_connect_names_the_place_and_what_to_do(code, advice):
    sentence = trouble.connect_trouble(ENDPOINT, OSError(code, os.strerror(code)))
    assert sentence.startswith("10.1.2.3:8000 ")
    assert advice in sentence
    assert sentence.endswith(".")


def test_a_server_that_hangs_up_on_a_greeting_in_http2_may_not_speak_it():
    plain = Endpoint("http", "10.1.2.3", 8000)
    assert "https://" in trouble.closed_early(plain, has_begun=False)
    said = trouble.closed_early(plain.speaking("2"), has_begun=False)
    assert 'set http = "1.1" or "auto"' in said
    assert "https://" not in said


def test_a_name_server_that_does_not_answer_is_told_from_a_wrong_name():
    silent = socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
    assert "this machine's name server" in trouble.dns_trouble(ENDPOINT, silent)


def test_no_common_tls_is_a_sentence_with_openssls_reason():
    error = ssl.SSLError(1, "[SSL: TLSV1_ALERT_PROTOCOL_VERSION] tlsv1 alert protocol version")
    assert "agree on no TLS connection" in trouble.tls_trouble(ENDPOINT, error)


def test_a_tls_alert_as_an_answer_says_use_https():
    sentence = trouble.not_http(ENDPOINT, ValueError("x"), b"\x15\x03\x01\x00\x02\x02F")
    assert sentence == "10.1.2.3:8000 answered in TLS; use https:// in the URL."
