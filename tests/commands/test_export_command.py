"""`headway export` and `headway import` as their users run them."""

import json

import pytest

from tests.run_headway import headway_in
from tests.ui.made_up_results import ended_run


@pytest.mark.slow
def test_a_run_travels_by_zip_and_nothing_is_overwritten(tmp_path):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    with headway_in(tmp_path / "here") as here, headway_in(tmp_path / "there") as there:
        uid = ended_run(here.data)
        path = tmp_path / "run.zip"
        asked = ("export", uid, "--format", "zip", "--out", str(path))
        for _ in range(20):  # the store takes the run in
            said = here(*asked)
            if said.returncode == 0:
                break
        assert said.stdout.startswith(f"{path}: 120 requests, 1,140 token events"), said.stderr
        again = here(*asked)
        assert again.returncode == 2
        assert again.stderr == f"{path} is there already; give another path, or remove it first.\n"

        first, second = there("import", str(path)), there("import", str(path))
        assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
        assert "is imported" in first.stdout
        assert "is here already" in second.stdout
        numbers = [json.dumps(place.shown(uid)["levels"]) for place in (here, there)]
        assert numbers[0] == numbers[1]
