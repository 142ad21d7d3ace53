"""Scenarios for tickets: what a scripted creator makes, and what a scripted critic finds in it."""

from pathlib import Path

from tests.cli.projects import CONFIG, Sample

PASSES = """\
[[step]]
role = "critic"
repeat = true
result = { status = "done", verdict = "pass" }
"""


def creates(content: str = "good", attempt: int | None = None, summary: str = "wrote the result") -> str:
    """A creator that writes this; in every ticket, or in one. The check wants `good`.

    From the second ticket on it also writes something else: what changes nothing is not judged again.
    """
    return "".join(_creates(content, number, summary) for number in ((attempt,) if attempt else range(1, 9)))


def _creates(content: str, attempt: int, summary: str) -> str:
    beside = f', {{ path = "trace.txt", content = "{attempt}" }}' if attempt > 1 else ""
    return f"""\
[[step]]
role = "creator"
attempt = {attempt}
repeat = true
edits = [{{ path = "result.txt", content = "{content}" }}{beside}]
result = {{ status = "done", summary = "{summary}" }}
"""


def finding(issue: str, severity: str = "high", requirement: str = "AC-1", **more: str) -> str:
    fields = {"severity": severity, "requirement": requirement, "issue": issue, "evidence": "seen", **more}
    return "{ " + ", ".join(f'{name} = "{value}"' for name, value in fields.items()) + " }"


def finds(*findings: str, attempt: int | None = None, role: str = "critic") -> str:
    when = "repeat = true" if attempt is None else f"attempt = {attempt}"
    return f"""\
[[step]]
role = "{role}"
{when}
result = {{ status = "done", verdict = "fail", findings = [{", ".join(findings)}] }}
"""


def ticketed(path: Path, *steps: str, config: str = CONFIG) -> Sample:
    """A project whose critic passes what no step says otherwise about."""
    return Sample.create(path, "".join(steps) + PASSES, config)


def escalated(path: Path, *steps: str, max: int = 1, config: str = CONFIG) -> Sample:  # noqa: A002 - as the option
    """A session with two criteria that was never right and waits for a person."""
    sample = ticketed(path, *(steps or (creates("bad"),)), config=config)
    sample.loop("ticket", "new", "Make it good", "--session", "s", "--accept", "it is good", "--accept", "it is kept")
    done = sample.loop("ticket", "run", "--max", str(max), "--json")
    assert (done.code, done.data["verdict"]) == (4, "ESCALATE"), done.err
    return sample


def folder(sample: Sample, where: str, session: str = "s") -> Path:
    return sample.repo.path / ".loop" / "tickets" / where / session


def texts(path: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in sorted(path.glob("TICKET-*.md"))}
