"""`headway doctor`: can this machine measure, and can that endpoint be measured?"""

import json
import sys
from dataclasses import asdict
from typing import Any

import click

from commands.planning import checked
from commands.refusal import FAILED
from commands.run_options import api_option, key_option
from loadgen import run_folder
from loadgen.doctor import Finding, examine
from loadgen.explain_table import counts, events, phases
from loadgen.explain_words import printable

MARKS = {"ok": ("ok  ", "green"), "warn": ("warn", "yellow"), "bad": ("BAD ", "red")}
WARNINGS = {"warn": ("!", "yellow"), "note": ("·", "blue")}
INDENT = f"{'':21}"
AUTO = "auto"
LONGEST_LINE = 2_000

Json = dict[str, Any]


@click.command()
@click.argument("url", required=False)
@click.option("--model", metavar="M", help="For URL; else the first one the server lists.")
@api_option
@key_option
@click.option("--events", "is_all", is_flag=True, help="Every event of a long answer.")
@click.option("--json", "is_json", is_flag=True, help="All of it as JSON, and nothing else.")
def doctor(url: str | None, is_all: bool, is_json: bool, **target: str | None) -> None:
    """Look at stamps, clock, files, cores, disk, database, browser, and URL if given.

    Of URL one short streamed request is explained event by event: what came when, what was a
    token, what is odd. Without --api (or with --api auto) its path tells the API, else what it
    lists. Exit code: 0 nothing is bad, 3 something is.
    """
    findings = examine(run_folder.data_folder())
    if not is_json:
        _show(findings)
    said = _explained({"url": url, **target}) if url else None
    if said:
        from loadgen.doctor_endpoint import endpoint

        found = endpoint(said)
        findings.append(found)
        if not is_json:
            _show([found])
            _show_explanation(said, is_all)
    if is_json:
        click.echo(json.dumps({"machine": [asdict(f) for f in findings], "endpoint": said}))
    if any(finding.level == "bad" for finding in findings):
        sys.exit(FAILED)


def _explained(target: Json) -> Json:
    """The endpoint's explanation; `api` tells which was taken and why."""
    from loadgen.check import raw_plan
    from loadgen.check_api import first_model, guess
    from loadgen.doctor_endpoint import explained

    why = "the usual one" if target["api"] in (None, AUTO) else "as asked"
    is_http = target["url"].startswith(("http://", "https://"))
    if target["api"] in (None, AUTO):
        target = {**target, "api": None}
        if is_http:
            found = guess(target)
            target |= {"api": found.api, "model": target["model"] or found.model}
            why = found.why
    if not target["model"]:
        target["model"] = (is_http and first_model(target)) or "default"
    plan = checked(raw_plan(target), (), f"doctor {target['url']}")
    return {"api": plan.target.api, "api_why": why, **explained(plan)}


def _show(findings: list[Finding]) -> None:
    for finding in findings:
        mark, colour = MARKS[finding.level]
        _say(f"{finding.name:<14} {finding.seen}", click.style(mark, fg=colour) + "  ")
        if finding.advice:
            _say(f"→ {finding.advice}", INDENT)


def _show_explanation(said: Json, is_all: bool) -> None:
    """What came when, every warning, and the events."""
    _say(f"API: {said['api']} ({said['api_why']})", INDENT)
    if said.get("http_status") is None:  # not a byte came: its sentence says it all
        return
    _say(f"model: {said['asked']['model']}, at most {said['asked']['max_tokens']} tokens", INDENT)
    for line in (*phases(said), *counts(said)):
        _say(line, INDENT)
    for warning in said["warnings"]:
        mark, colour = WARNINGS[warning["level"]]
        _say(warning["text"], f"{'':19}{click.style(mark, fg=colour)} ")
    if table := events(said, is_all):
        click.echo()
        for line in table:
            _say(line, "  ")


def _say(line: str, before: str = "") -> None:
    """Server text among it must not steer the terminal."""
    click.echo(before + printable(line, LONGEST_LINE))
