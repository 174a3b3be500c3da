"""An idle connection is looked at before its next request only if no poll would have told."""

import socket

import pytest

from loadgen.transport.connection import Connection, Phases
from loadgen.transport.idle import IdleConnections
from loadgen.transport.polls import Polls


@pytest.fixture
def polls():
    return Polls(lambda *_: False)


@pytest.fixture
def idle(polls):
    made = IdleConnections(polls)
    yield made
    made.close_all()


@pytest.fixture
def peers():
    """The far ends of the connections."""
    ends = []
    yield ends
    for end in ends:
        end.close()


def connected(peers):
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    peers.append(theirs)
    return Connection(ours, None, None, Phases())


def test_one_that_came_in_this_turn_is_looked_at(idle, peers):
    idle.put(connected(peers))
    peers[0].close()
    assert idle.take() is None
    assert len(idle) == 0


def test_one_that_a_poll_has_watched_is_taken_as_it_is(idle, peers, polls):
    idle.put(connected(peers))
    polls.before_poll()
    peers[0].close()  # since that poll, as it may while a request is on its way
    taken = idle.take()
    assert taken is not None
    taken.close()


def test_the_latest_that_is_open_comes_first(idle, peers):
    connections = [connected(peers) for _ in range(3)]
    for connection in connections:
        idle.put(connection)
    peers[2].close()
    assert idle.take() is connections[1]
    assert idle.take() is connections[0]
    assert idle.take() is None
    for connection in connections[:2]:
        connection.close()
