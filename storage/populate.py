"""Have the kernel make a map's pages writable ahead of their first use.

The first write to each page of a mapped file enters the file system, which may wait for a journal
commit that somebody else's fsync began: 10-50 ms, seen on a busy disk, inside the load's loop.
"""

import ctypes
import mmap

_POPULATE_WRITE = 23  # MADV_POPULATE_WRITE, Linux 5.14; older kernels answer EINVAL
_libc = ctypes.CDLL(None, use_errno=True)


def populate(area: mmap.mmap, n_bytes: int) -> bool:
    """Fault in the first n_bytes for writing, without the interpreter lock; False if it cannot."""
    if n_bytes <= 0:
        return False
    start = ctypes.c_char.from_buffer(area)  # keeps the map from being closed meanwhile
    address = ctypes.c_void_p(ctypes.addressof(start))
    failed = _libc.madvise(address, ctypes.c_size_t(min(n_bytes, len(area))), _POPULATE_WRITE)
    del start
    return failed == 0
