"""Two proxies for tests: one for plain requests, one that opens tunnels."""

import contextlib
import socket
import threading

HEAD_END = b"\r\n\r\n"


def head_of(connection):
    head = b""
    while HEAD_END not in head:
        piece = connection.recv(65536)
        if not piece:
            return b"", b""
        head += piece
    return head.partition(HEAD_END)[0], head.partition(HEAD_END)[2]


def tunnel_script(heads, target, refusal=None):
    """A script that joins both sides after CONNECT; target: the (host, port) to go to instead of
    the name asked for, which no name server knows.  heads: where each CONNECT is put.
    """

    def script(connection, _n):
        head, _ = head_of(connection)
        heads.append(head.decode())
        if refusal is not None:
            connection.sendall(refusal)
            return
        with socket.create_connection(target) as server:
            threading.Thread(target=pump, args=(server, connection), daemon=True).start()
            connection.sendall(b"HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n")
            pump(connection, server)

    return script


def pump(source, sink):
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)
