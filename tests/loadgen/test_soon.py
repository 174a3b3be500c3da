"""What changes often in a moment is said once."""

import gevent

from loadgen.soon import Soon


def test_changes_that_come_together_are_said_once_and_later_ones_again():
    value, said = 0, []
    changed = Soon(0, lambda: said.append(value))
    for value in (1, 2, 3):  # noqa: B007 - said.append looks at it later
        changed()
    assert said == []
    gevent.sleep(0.001)
    assert said == [3]
    value = 4
    changed()
    gevent.sleep(0.001)
    assert said == [3, 4]
