"""KV blocks: counting, sharing, eviction."""

from simulator.kv_blocks import Held, KvBlocks, block_hashes


def test_only_full_blocks_are_hashed_and_a_difference_changes_all_that_follow():
    one = block_hashes(["a", "b", "c", "d", "e", "f", "g"], 2)
    other = block_hashes(["a", "b", "X", "d", "e", "f"], 2)
    assert len(one) == len(other) == 3
    assert one[0] == other[0]
    assert set(one[1:]).isdisjoint(other[1:])


def test_growth_that_does_not_fit_changes_nothing():
    blocks, held = KvBlocks(total=3, block_tokens=4), Held()
    assert blocks.grow(held, 5)
    assert (held.private, blocks.free) == (2, 1)
    assert not blocks.grow(held, 17)
    assert (held.private, blocks.free) == (2, 1)
    assert blocks.grow(held, 12)
    assert blocks.free == 0


def test_a_shared_block_is_counted_once_and_freed_by_its_last_holder():
    blocks, first, second = KvBlocks(10, 4), Held(), Held()
    blocks.grow(first, 8)
    blocks.publish(first, (11, 22), computed_tokens=8)
    assert blocks.adopt(second, (11, 22, 33), limit=3) == 2
    assert blocks.used == 2
    blocks.release(first)
    assert blocks.used == 2
    blocks.release(second)
    assert blocks.used == 0


def test_only_computed_blocks_are_published():
    blocks, held = KvBlocks(10, 4), Held()
    blocks.grow(held, 12)
    blocks.publish(held, (11, 22, 33), computed_tokens=7)
    assert (held.shared, held.private) == ([11], 2)


def test_two_sequences_that_computed_the_same_block_end_with_one():
    blocks, first, second = KvBlocks(10, 4), Held(), Held()
    for held in (first, second):
        blocks.grow(held, 4)
    assert blocks.used == 2
    for held in (first, second):
        blocks.publish(held, (11,), 4)
    assert blocks.used == 1


def test_idle_blocks_are_evicted_tail_first_and_oldest_first():
    blocks, old, young, new = KvBlocks(4, 4), Held(), Held(), Held()
    for held, hashes in ((old, (1, 2)), (young, (3, 4))):
        blocks.grow(held, 8)
        blocks.publish(held, hashes, 8)
        blocks.release(held)
    assert blocks.free == 4
    assert blocks.grow(new, 4)  # evicts 2, the tail of the older prompt
    assert blocks.adopt(Held(), (1, 2), 2) == 1
    assert blocks.adopt(Held(), (3, 4), 2) == 2
