"""A data folder with tables, and the runs imported into it."""

import shutil

import pytest

from storage.database import NAME, Database
from storage.exchange.importing import import_file
from storage.intake import Intake
from storage.queries import QUERIES


class Here:
    """A data folder and the store's own work on it, in this process; shared by a file's tests."""

    def __init__(self, data):
        self.data = data
        self._database = Database(data)
        self._intake = Intake(self._database, data)

    def load(self, path):
        """What the file brought, after the store has taken it in."""
        found = import_file(path, self.data)
        for _ in range(9):
            self._intake.turn()
        return found

    def ask(self, name, **arguments):
        with self._database.cursor() as cursor:
            return QUERIES[name](cursor, **arguments).to_pylist()

    def close(self):
        self._database.close()


@pytest.fixture(scope="module")
def here(empty_database, tmp_path_factory):
    data = tmp_path_factory.mktemp("data")
    shutil.copy(empty_database, data / NAME)
    here = Here(data)
    yield here
    here.close()
