"""The other side of HTTP/2, by the h2 library in server mode: on bytes, and on a socket."""

import contextlib

import h2.events as happened
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.exceptions import ProtocolError


class H2Peer:
    """A server without a socket.  requests: (headers, body) of each stream in order."""

    def __init__(self):
        self.h2 = H2Connection(H2Configuration(client_side=False, header_encoding="ascii"))
        self.h2.initiate_connection()
        self.requests, self.events, self._bodies = [], [], {}
        self._raw = b""

    def receive(self, data):
        """The streams whose request these bytes completed."""
        ready = []
        for event in self.h2.receive_data(data):
            self.events.append(event)
            if isinstance(event, happened.RequestReceived):
                self._bodies[event.stream_id] = (dict(event.headers), bytearray())
            elif isinstance(event, happened.DataReceived):
                self._bodies[event.stream_id][1].extend(event.data)
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, happened.StreamEnded):
                headers, body = self._bodies.pop(event.stream_id)
                self.requests.append((headers, bytes(body)))
                ready.append(event.stream_id)
        return ready

    def begin(self, stream, status="200", **fields):
        headers = [(":status", status), ("content-type", "text/event-stream"), *fields.items()]
        self.h2.send_headers(stream, headers)

    def piece(self, stream, data):
        self.h2.send_data(stream, data)

    def end(self, stream):
        self.h2.end_stream(stream)

    def say(self, frame):
        """Send these bytes too, which the h2 library would not."""
        self._raw = frame

    def owed(self):
        frame, self._raw = self._raw, b""
        return self.h2.data_to_send() + frame


def goaway(last_stream, code=0, said=b""):
    """The frame; h2's own close_connection() would end every stream with it."""
    content = last_stream.to_bytes(4, "big") + code.to_bytes(4, "big") + said
    return len(content).to_bytes(3, "big") + b"\x07\0\0\0\0\0" + content


def h2_script(answer, peers):
    """A script for ScriptedServer: answer(peer, stream, flush) for each whole request.

    peers: where each connection's H2Peer is put.  flush() sends what the peer has to say.
    """

    def script(connection, _n):
        peer = H2Peer()
        peers.append(peer)

        def flush():
            connection.sendall(peer.owed())

        flush()
        while received := connection.recv(65536):
            try:
                ready = peer.receive(received)
            except ProtocolError:  # the other side speaks HTTP/1.1, or spoke after our farewell
                flush()
                return
            flush()
            for stream in ready:
                if answer(peer, stream, flush) == "close":
                    drain(connection)
                    return

    return script


def drain(connection):
    """Read what the other side still says: unread, it would make our end a reset."""
    connection.settimeout(0.1)
    with contextlib.suppress(TimeoutError):
        while connection.recv(65536):
            pass


def streamed(*pieces):
    """An answer of these pieces, each a DATA frame of its own, and an empty one at its end."""

    def answer(peer, stream, flush):
        peer.begin(stream)
        flush()
        for piece in pieces:
            peer.piece(stream, piece)
            flush()
        peer.end(stream)
        flush()

    return answer
