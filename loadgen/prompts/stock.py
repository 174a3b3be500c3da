"""What one endpoint's synthetic prompts are cut from, made and checked before the clock starts."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from loadgen.prompts.counting import CannotCount, TokenCounter
from loadgen.prompts.heads import Heads
from loadgen.prompts.pieces import Piece, Pieces, find_pieces
from loadgen.prompts.pool import Pool, make_pool
from loadgen.prompts.synthetic import Numbering, Synthetic

GLUES = (" ", "\n")
CHECKED_LENGTHS = (1, 2, 3, 5, 8, 16, 31, 64, 100, 256, 511, 1_000, 2_048, 4_000)
CHECKED_EACH = 4

Progress = Callable[[float, str], None]
"""How much is done, 0 to 1, and what; called often, so that others may have their turn."""


@dataclass(frozen=True, slots=True)
class Facts:
    """How prompts were counted, for run.json.

    overhead_tokens: what the endpoint adds to each prompt (chat template), None if unknown.
    off: by how many tokens checked prompts differed from what was asked, least and most.
    """

    counted_by: str
    counter: str
    pieces: int
    checked: int = 0
    off: tuple[int, int] = (0, 0)
    overhead_tokens: int | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Stock:
    """Pieces, the pool made of them, and what is known about their counts."""

    pieces: Pieces
    pool: Pool
    facts: Facts

    def synthetic(self, salt: str) -> Synthetic:
        """Cuts prompts; different ones for each salt."""
        return Synthetic(self.pool, Heads(self.pieces, salt))

    def to_json(self) -> dict[str, Any]:
        """Plain values, about a megabyte."""
        return {
            "pieces": asdict(self.pieces),
            "pool": self.pool.to_json(),
            "facts": asdict(self.facts),
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> "Stock":
        """What `to_json` gave."""
        pieces = raw["pieces"]
        facts: dict[str, Any] = {**raw["facts"], "off": tuple(raw["facts"]["off"])}
        return cls(
            Pieces(
                tuple(Piece(*piece) for piece in pieces["openers"]),
                tuple(Piece(*piece) for piece in pieces["middles"]),
                tuple(pieces["fillers"]),
                pieces["constant"],
            ),
            Pool.from_json(raw["pool"]),
            Facts(**facts),
        )


def make_stock(counter: TokenCounter, seed: int, lengths: Sequence[int] = ()) -> Stock:
    """The stock whose checked prompts have the asked lengths, or come nearest to them.

    lengths: those the plan is about, of which a counter that costs requests checks two.
    Raises CannotCount.
    """
    is_free = counter.most_texts is None and counter.by != "words"
    best: Stock | None = None
    for glue in GLUES if is_free else GLUES[:1]:
        stock = _made(counter, seed, glue, lengths)
        if best is None or _misfit(stock) < _misfit(best):
            best = stock
        if _misfit(best) == 0:
            break
    assert best is not None
    return replace(best, facts=replace(best.facts, note=_note(best)))


def _made(counter: TokenCounter, seed: int, glue: str, lengths: Sequence[int]) -> Stock:
    pieces = find_pieces(counter, glue)
    if not pieces.middles:
        raise CannotCount(f"{counter.name} counts no tokens in any word.")
    pool = make_pool(pieces, counter, seed)
    stock = Stock(pieces, pool, Facts(counter.by, counter.name, len(pieces.middles)))
    if counter.by == "words":
        return stock
    asked = list(lengths)[:2] or [64, 256]
    if counter.most_texts is None:
        asked = [n for n in (*CHECKED_LENGTHS, *lengths) for _ in range(CHECKED_EACH)]
    synthetic, number = stock.synthetic("check"), Numbering("prompt", 0, 0)
    texts = [synthetic.text(number(i), n) for i, n in enumerate(asked)]
    counted = counter.count_all(texts)
    off = [n - pieces.constant - a for a, n in zip(asked, counted, strict=True)]
    return replace(stock, facts=replace(stock.facts, checked=len(off), off=(min(off), max(off))))


def _misfit(stock: Stock) -> int:
    least, most = stock.facts.off
    return max(abs(least), abs(most))


def _note(stock: Stock) -> str | None:
    facts = stock.facts
    if facts.counted_by == "words":
        return "Nobody counts this endpoint's tokens: each word of a prompt is taken for one token."
    if facts.off == (0, 0):
        return None
    least, most = facts.off
    by = f"{least:+d}" if least == most else f"{least:+d} to {most:+d}"
    return (
        f"Prompts cannot be cut to the token with {facts.counter}: of {facts.checked} checked "
        f"ones some differ by {by} tokens from the length asked for."
    )
