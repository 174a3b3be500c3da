"""What the events of all APIs share."""

import pytest

from loadgen.wire.event_json import count


@pytest.mark.parametrize("value", [True, -1, 2**31, 1.0, "7", None, [7]])
def test_what_is_no_number_of_tokens_or_fits_no_column_is_none(value):
    assert count(value) is None
