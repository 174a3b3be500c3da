"""What may come in at an open port."""

import msgpack
import zmq
from hypothesis import given
from hypothesis import strategies as st

from loadgen.machines.channel import Message, pack, received, unpack


def frames(sender: bytes, message: bytes) -> list:
    return [zmq.Frame(sender), zmq.Frame(message)]


def test_a_message_survives_the_wire_bytes_and_all():
    message = Message("outpost", {"bytes": b"\x00\xff", "n": 1}, "vm_1")
    assert unpack(pack(message)) == message


@given(st.binary(max_size=200))
def test_strange_bytes_are_no_message_and_no_error(junk):
    found = unpack(junk)
    assert found is None or isinstance(found.type, str)


def test_values_that_are_no_message_are_none():
    for value in (5, [1, 2, 3], ["kind", {}], {"a": 1}, ["kind", {}, None]):
        assert unpack(msgpack.packb(value)) is None


def test_nobody_speaks_in_anothers_name():
    message = pack(Message("post", {}, "vm_1"))
    assert received(frames(b"vm_1", message)) == Message("post", {}, "vm_1")
    assert received(frames(b"vm_2", message)) is None
    assert received([zmq.Frame(b"vm_1")]) is None
