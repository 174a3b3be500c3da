"""The sentences under a level: what came and what was completed, and why some was not."""

from made import SECOND, UID, Made, row, stage

from analysis.show import show


def level_of(rows, **more):
    return show(Made(rows, [stage(0, "5/s", 0, 60 * SECOND, kind="open")], **more).ask, UID)


def failing(every):
    outcomes = ["complete" if i % every else "http_error" for i in range(300)]
    return [row(i, 200_000 * i, due_us=200_000 * i, outcome=o) for i, o in enumerate(outcomes)]


def test_answers_missing_because_they_failed_are_said_to_have_failed_and_are_no_overload():
    level = level_of(failing(4))["levels"][0]
    check = level["checks"]["offered"]
    assert check["holds"] is False
    assert check["sentence"].endswith(
        f"were completed: {check['failed']} of {check['came']} requests failed."
    )
    assert "Overload" not in check["sentence"]
    assert check["sentence"] in level["warnings"]


def test_a_few_failures_are_kept_up_with_and_told():
    check = level_of(failing(100))["levels"][0]["checks"]["offered"]
    assert check["holds"]
    assert "it keeps up; " in check["sentence"]
    assert check["sentence"].endswith(" requests failed.")
