"""The kernel's arrival stamps on the truth server's sockets."""

import socket
import struct
import time

SO_TIMESTAMPING = 37  # Linux; also the type of its control message
RX_SOFTWARE_AND_REPORT = (1 << 3) | (1 << 4)
TIMESPEC = struct.Struct("qq")
ANCILLARY_BYTES = 128


def enable(listener: socket.socket) -> None:
    """Ask for stamps on all that `listener` will accept; returns once the kernel gives them.

    Accepted sockets inherit the option, so a request that came before accept() is stamped too.  The
    kernel begins to stamp some ms after the host's first socket asks: it patches its own code.
    """
    listener.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, RX_SOFTWARE_AND_REPORT)
    for _ in range(100):
        with socket.create_connection(listener.getsockname()) as probe:
            probe.send(b"x")
            accepted, _ = listener.accept()
            with accepted:
                _, control, _, _ = accepted.recvmsg(1, ANCILLARY_BYTES)
        if kernel_ns(control):
            return
        time.sleep(0.01)


def kernel_ns(control: list[tuple[int, int, bytes]]) -> int:
    """CLOCK_REALTIME at the arrival of the newest bytes read; 0 if the kernel gave none."""
    for level, kind, stamp in control:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPING:
            seconds, ns = TIMESPEC.unpack_from(stamp)
            return seconds * 1_000_000_000 + ns
    return 0
