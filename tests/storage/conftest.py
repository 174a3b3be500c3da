"""A data folder and the tables made of it."""

import pytest
from made_up_runs import Tables


@pytest.fixture
def tables(tmp_path):
    tables = Tables(tmp_path)
    yield tables
    tables.database.close()
