"""A data folder and the tables made of it."""

import shutil

import pytest
from made_up_runs import Tables

from storage.database import NAME, Database


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory):
    """A database file with all tables and no row: copying it is faster than making it."""
    folder = tmp_path_factory.mktemp("empty")
    Database(folder).close()
    return folder / NAME


@pytest.fixture(scope="module")
def shared_tables(empty_database, tmp_path_factory):
    """Tables for tests that look at one run of theirs only: opening a database costs 0.2 s."""
    data = tmp_path_factory.mktemp("shared")
    shutil.copy(empty_database, data)
    tables = Tables(data)
    yield tables
    tables.database.close()


@pytest.fixture
def tables(empty_database, tmp_path):
    shutil.copy(empty_database, tmp_path)
    tables = Tables(tmp_path)
    yield tables
    tables.database.close()
