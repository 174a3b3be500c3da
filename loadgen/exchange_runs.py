"""A stream's reads of a whole segment: runs of usual ones taken at once, the others one by one.

At 50 tokens/s nearly all of a stream's reads in a segment of one second are the plain event that it
has learned, on time and stamped.  Asked one by one that takes 3 µs each, most of it to come back to
the interpreter for every little step; a run of 50 takes 1 µs each.  ExchangeDecoder.read_all is
what this must agree with, and the oracle of its tests.
"""

from loadgen.exchange import ExchangeDecoder
from loadgen.read_table import ReadTable

MIN_RUN = 8
"""Fewer usual reads than this cost more together than one by one."""
MAX_RUN = 64
"""So many reads are looked at for a run: so a stream of short runs is not looked at for ever."""


class RunDecoder(ExchangeDecoder):
    """An ExchangeDecoder for the decoder process."""

    __slots__ = ()

    def read_table(self, table: ReadTable) -> None:
        """As read_all of the same reads."""
        payloads = table.reads.payloads()
        at, n_reads = 0, len(payloads)
        while at < n_reads:
            n = 0
            if self._plain is not None and self._is_between and n_reads - at >= MIN_RUN:
                part = slice(at, at + MAX_RUN)
                n = self._read_run(table.part(part), payloads[part])
            if not n:
                n = MIN_RUN
                part = slice(at, at + n)
                self.read_all(zip(*table.reads[part].times(), payloads[part], strict=True))
            at += n

    def _read_run(self, table: ReadTable, payloads: list[bytes]) -> int:
        """Take in the usual reads at the front, and say how many; 0, and nothing done, if few."""
        plain, log, seen = self._plain, self._log, self.seen
        n = plain.count(payloads) if plain is not None else 0
        is_ordinary = table.arrivals.is_ordinary[:n]
        if not is_ordinary.all():
            n = int(is_ordinary.argmin())  # the first that is not
        if plain is None or n < MIN_RUN:
            return 0
        n_bytes = sum(map(len, payloads[:n]))
        if not seen.clock.read_run(table.arrivals.part(slice(n)), n_bytes):
            return 0
        self._learned_in_vain = 0
        if plain.choice != log.choice:
            log.turn_to(plain.choice)
        log.append_run(table.rows[:n], plain.kind_number)
        self._read_from = log.n - 1
        seen.answer.same_again(plain.choice, n)
        return n

    def take_rows(self) -> bytearray:
        """The packed rows of take_tokens."""
        return self._log.take()
