"""Servers, ports and pools that end with their test."""

import socket

import pytest
from scripted_server import Asker, ScriptedServer

from loadgen.transport.call import Timeouts


@pytest.fixture
def serve():
    """serve(script) starts a ScriptedServer that ends with the test."""
    servers = []

    def start(script, **options):
        servers.append(ScriptedServer(script, **options))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def silent_port():
    """A port whose connections stay half open for ever: its backlog is full."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=0)
    fillers = [socket.socket() for _ in range(3)]
    for filler in fillers:
        filler.setblocking(False)
        filler.connect_ex(listener.getsockname())
    yield listener.getsockname()[1]
    for sock in (*fillers, listener):
        sock.close()


@pytest.fixture
def asker():
    """asker(endpoint) makes an Asker whose pool ends with the test."""
    askers = []

    def make(endpoint, connect_s=5, silence_s=5, total_s=10, **options):
        timeouts = Timeouts(connect_s, silence_s, total_s)
        askers.append(Asker(endpoint, timeouts, **options))
        return askers[-1]

    yield make
    for made in askers:
        made.pool.close()
