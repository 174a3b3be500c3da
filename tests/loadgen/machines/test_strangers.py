"""Who knocks without the secret is counted and named."""

import threading

import pytest
import zmq

from loadgen.machines import channel
from loadgen.machines.secret import leader_keys
from loadgen.machines.strangers import Strangers, closed_peers

GOOD, BAD = "the-shared-secret-of-all", "another-secret-of-theirs"


@pytest.fixture
def port():
    """A leader's port, as (socket, its strangers, HOST:PORT)."""
    socket = zmq.Context.instance().socket(zmq.ROUTER)
    channel.lock(socket, leader_keys(GOOD))
    strangers = Strangers(socket)
    threading.Thread(target=strangers.watch, daemon=True).start()
    n = socket.bind_to_random_port("tcp://127.0.0.2")
    yield socket, strangers, f"127.0.0.2:{n}"
    socket.close(0)


def is_refused(wire: channel.Wire) -> bool:
    for _ in range(100):
        wire.send({"say": "join"})
        try:
            wire.receive(0.1)
        except channel.Refused:
            return True
    return False


def test_the_kernels_table_names_who_was_closed():
    rows = [
        "   0: 0200007F:1692 0100007F:9456 06 0:0 00:0 0",
        "   1: 0200007F:1692 0900000A:9456 01 0:0 00:0 0",
        "   2: 0200007F:0050 0900000A:9456 06 0:0 00:0 0",
        "   3: 0000000000000000FFFF00000200007F:1692 0000000000000000FFFF00000700000A:AC04 06 0:0",
        "   4: 00000000000000000000000001000000:1692 B80D0120000000000000000001000000:AC04 06 0:0",
        "",
    ]
    assert closed_peers(rows, 0x1692) == {"127.0.0.1", "10.0.0.7", "2001:db8::1"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("secret", "named"), [(BAD, ("127.0.0.1",)), (None, ("127.0.0.1", "not known"))]
)
def test_a_joiner_without_the_secret_is_refused_and_its_address_named(port, secret, named):
    socket, strangers, address = port
    wire = channel.Wire(address, "stranger", leader_keys(secret) if secret else None)
    try:
        assert is_refused(wire)
        for _ in range(8):  # it tries again and again, and one of its ends is seen
            if named[0] in "".join(strangers.sentences()) or not is_refused(wire):
                break
    finally:
        wire.close()
    assert not socket.poll(0)
    (sentence,) = strangers.sentences()
    assert "did not have the secret" in sentence
    assert any(name in sentence for name in named)  # without keys it hangs up by itself


@pytest.mark.slow
def test_who_has_the_secret_is_heard(port):
    socket, strangers, address = port
    wire = channel.Wire(address, "friend", leader_keys(GOOD))
    try:
        for _ in range(100):
            wire.send({"say": "join"})
            if socket.poll(50):
                break
        found = channel.received(socket.recv_multipart(copy=False))
    finally:
        wire.close()
    assert found is not None
    assert found.data == {"say": "join"}
    assert found.address == "127.0.0.1"
    assert strangers.sentences() == []


@pytest.mark.slow
def test_a_message_of_more_than_a_megabyte_is_not_taken(port):
    socket, _, address = port
    wire = channel.Wire(address, "friend", leader_keys(GOOD))
    try:
        for _ in range(100):
            if wire.send({"say": "join", "bytes": bytes(channel.MOST_BYTES_IN)}):
                break
            wire.receive(0.05)
        assert not socket.poll(500)
    finally:
        wire.close()
