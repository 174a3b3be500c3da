"""`headway doctor`: can this machine measure, and can that endpoint be measured?"""

import sys

import click

from commands.planning import checked
from commands.refusal import FAILED
from commands.run_options import api_option, key_option
from loadgen import run_folder
from loadgen.doctor import Finding, examine

MARKS = {"ok": ("ok  ", "green"), "warn": ("warn", "yellow"), "bad": ("BAD ", "red")}


@click.command()
@click.argument("url", required=False)
@click.option("--model", metavar="M", help="For URL; else the first one the server lists.")
@api_option
@key_option
def doctor(url: str | None, model: str | None, api: str | None, api_key_env: str | None) -> None:
    """Look at stamps, clock, files, cores, disk, database, browser, and URL if given.

    Exit code: 0 nothing is bad, 3 something is.
    """
    findings = examine(run_folder.data_folder())
    if url:
        findings.append(_endpoint(url, model, api, api_key_env))
    for finding in findings:
        mark, colour = MARKS[finding.level]
        click.echo(f"{click.style(mark, fg=colour)}  {finding.name:<14} {finding.seen}")
        if finding.advice:
            click.echo(f"      {'':<14} → {finding.advice}")
    if any(finding.level == "bad" for finding in findings):
        sys.exit(FAILED)


def _endpoint(url: str, model: str | None, api: str | None, api_key_env: str | None) -> Finding:
    from loadgen.doctor_endpoint import endpoint, first_model

    target = {"url": url, "api": api, "api_key_env": api_key_env}
    target["model"] = model or first_model(url, api_key_env) or "default"
    raw = {
        "target": {name: value for name, value in target.items() if value is not None},
        "stages": [{"concurrency": 1, "requests": 1}],
    }
    return endpoint(checked(raw, (), f"doctor {url}"))
