"""A run reads its loop once before its first append, and nothing afterwards that it wrote itself."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from loopwright.adapters.sqlite.store import SqliteStore
from tests.cli.projects import CONFIG, GOOD, NEVER_RIGHT, Sample
from tests.cli.reviews import blocks, fixes, reviewable
from tests.cli.tickets import creates, escalated, ticketed

READS = ("load", "read", "rows")
ONLY_THE_LIST = ["rows"]  # after a drive: what all of it has cost, and which other loops are open

Asked = tuple[list[str], list[str]]
LISTED_AND_READ: Asked = (["rows", "load"], [])


class Counting:
    """What whole commands ask of the store: before they first append, and once they have appended for the last time.

    To ask whether somebody else has written since, and to hear that nobody has, reads nothing.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.calls: list[str] = []
        for name in (*READS, "append"):
            patch.setattr(SqliteStore, name, self._noting(name, getattr(SqliteStore, name)))

    def _noting(self, name: str, method: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
        async def noted(store: SqliteStore, *args: object, **named: object) -> object:
            answer = await method(store, *args, **named)
            if name != "read" or answer:
                self.calls.append(name)
            return answer

        return noted

    def of(self, sample: Sample, *argv: str, code: int = 0) -> Asked:
        self.calls.clear()
        done = sample.loop(*argv)
        assert done.code == code, done.err
        written = [number for number, name in enumerate(self.calls) if name == "append"]
        between = [name for name in self.calls[written[0] : written[-1]] if name != "append"]
        assert between == []
        return self.calls[: written[0]], self.calls[written[-1] + 1 :]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Counting:
    return Counting(monkeypatch)


@pytest.mark.parametrize(("scenario", "code"), [(GOOD, 0), (NEVER_RIGHT, 4)])
def test_a_new_loop_reads_only_the_list(tmp_path: Path, asked: Counting, scenario: str, code: int) -> None:
    sample = Sample.create(tmp_path / "repo", scenario)
    before = ["load"] if code == 0 else []  # what the loop before it landed
    assert asked.of(sample, "feedback", "x", "--json", code=code) == (["rows"], ONLY_THE_LIST)
    assert asked.of(sample, "feedback", "x", "--unattended", code=code) == (["rows", *before], ONLY_THE_LIST)


def test_a_loop_that_is_answered_and_goes_on_is_listed_once_and_read_once(tmp_path: Path, asked: Counting) -> None:
    sample = Sample.create(tmp_path / "repo", NEVER_RIGHT)
    loop = sample.loop("feedback", "x", "--json").data["loop"]
    assert asked.of(sample, "answer", "continue", "1") == LISTED_AND_READ
    assert asked.of(sample, "resume", code=4) == (["rows", "load"], ONLY_THE_LIST)
    assert asked.of(sample, "answer", "continue", "1", "--loop", loop) == LISTED_AND_READ
    assert asked.of(sample, "resume", "--loop", loop, code=4) == (["rows", "load"], ONLY_THE_LIST)


def test_what_is_taken_in_at_a_resume_is_not_read_back(tmp_path: Path, asked: Counting) -> None:
    sample = Sample.create(tmp_path / "repo", NEVER_RIGHT)
    sample.loop("feedback", "x")
    sample.loop("answer", "continue", "1")
    sample.repo.write("loop.toml", f'{CONFIG}[limits]\nparallel = 2\n[budget]\nwall = "1h"\n')
    assert asked.of(sample, "resume", "--budget", "5", code=4) == (["rows", "load"], ONLY_THE_LIST)


def test_a_loop_that_remembers_its_past_reads_it_with_its_state(tmp_path: Path, asked: Counting) -> None:
    sample = escalated(tmp_path / "repo")
    assert asked.of(sample, "answer", "continue", "1") == LISTED_AND_READ
    assert asked.of(sample, "resume", code=4) == (["rows", "load"], ONLY_THE_LIST)


def test_a_new_session_of_tickets_does_not_read_back_what_it_made(tmp_path: Path, asked: Counting) -> None:
    sample = ticketed(tmp_path / "repo", creates())
    sample.loop("ticket", "new", "Make it good")
    before, after = asked.of(sample, "ticket", "run")
    assert (set(before), after) == ({"rows"}, ONLY_THE_LIST)


def test_the_parts_of_a_loop_are_read_once_too(tmp_path: Path, asked: Counting) -> None:
    never = (blocks("docs/b.md"), fixes("docs/b.md"))
    sample = reviewable(tmp_path / "repo", *never, files=("docs/a.md", "docs/b.md"))
    begun = asked.of(sample, "review", "docs", "--batch", "--max-attempts", "2", code=4)
    assert begun == (["rows", "rows"], ONLY_THE_LIST)
    assert asked.of(sample, "answer", "continue", "1") == LISTED_AND_READ
    both = ["load", "load"]  # itself, and the part that waits
    assert asked.of(sample, "resume", code=4) == (["rows", *both], ONLY_THE_LIST)
