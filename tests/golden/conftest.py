"""`make golden` writes what the code now says into the golden files; the diff is reviewed."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--refresh-golden", action="store_true", help="rewrite the golden files")


@pytest.fixture
def is_refreshing(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--refresh-golden", default=False))
