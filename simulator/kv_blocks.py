"""The KV cache as counted blocks: who holds how many, which are shared, what is evicted.

Blocks have no contents and private ones no identity; only their number limits the engine.
Source: paged KV cache, Kwon et al., SOSP 2023; prefix reuse by chained block hashes as in vLLM.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


def block_hashes(words: Sequence[str | int], block_tokens: int) -> tuple[int, ...]:
    """One hash per full block of `words`; equal hashes mean equal blocks after equal blocks."""
    hashes: list[int] = []
    previous = 0
    for start in range(0, len(words) - block_tokens + 1, block_tokens):
        previous = hash((previous, *words[start : start + block_tokens]))
        hashes.append(previous)
    return tuple(hashes)


@dataclass(slots=True)
class Held:
    """The blocks of one sequence: prompt blocks shared through the cache, then private ones."""

    shared: list[int] = field(default_factory=list[int])  # hashes, in prompt order
    private: int = 0


class KvBlocks:
    """A pool of `total` blocks.  Cached blocks that nobody holds are free, but keep their use
    until the room is needed; the least recently released goes first."""

    def __init__(self, total: int, block_tokens: int) -> None:
        self.total = total
        self.block_tokens = block_tokens
        self._private = 0
        self._holders: dict[int, int] = {}  # hash -> sequences holding it; 0 = idle
        self._idle: dict[int, None] = {}  # hashes nobody holds, oldest first

    @property
    def free(self) -> int:
        """Blocks that can be had, idle cached ones included."""
        return self.total - self.used

    @property
    def used(self) -> int:
        """Blocks held by at least one sequence."""
        return self._private + len(self._holders) - len(self._idle)

    def adopt(self, held: Held, hashes: Iterable[int], limit: int) -> int:
        """Give an empty `held` the cached beginning of its prompt, `limit` blocks at most.

        Returns the number of blocks; the first unknown hash ends it.
        """
        for block, _ in zip(hashes, range(limit), strict=False):
            if block not in self._holders:
                break
            self._hold(block)
            held.shared.append(block)
        return len(held.shared)

    def grow(self, held: Held, tokens: int) -> bool:
        """Let `held` cover `tokens`; False, and nothing changed, if there is no room."""
        wanted = -(-tokens // self.block_tokens) - len(held.shared) - held.private
        if wanted <= 0:
            return True
        if wanted > self.free:
            return False
        unused = self.total - self._private - len(self._holders)
        for _ in range(wanted - unused):
            del self._holders[self._evict_oldest()]
        self._private += wanted
        held.private += wanted
        return True

    def publish(self, held: Held, hashes: Sequence[int], computed_tokens: int) -> None:
        """Make the full prompt blocks that are computed by now findable for others.

        A block that another sequence published meanwhile is used from there, ours is given back.
        """
        full = min(len(hashes), computed_tokens // self.block_tokens)
        for block in hashes[len(held.shared) : full]:
            held.private -= 1
            self._private -= 1
            self._hold(block)
            held.shared.append(block)

    def release(self, held: Held) -> None:
        """Give all blocks back; the tail of a prompt is evicted before its head."""
        self._private -= held.private
        held.private = 0
        while held.shared:
            block = held.shared.pop()
            self._holders[block] -= 1
            if self._holders[block] == 0:
                self._idle[block] = None

    def _hold(self, block: int) -> None:
        holders = self._holders.get(block, 0)
        self._holders[block] = holders + 1
        if holders == 0:
            self._idle.pop(block, None)

    def _evict_oldest(self) -> int:
        oldest = next(iter(self._idle))
        del self._idle[oldest]
        return oldest
