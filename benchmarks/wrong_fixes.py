"""Try wrong variants of real fixes through the real verification; one JSON line for each trial.

`python -m benchmarks.wrong_fixes [--count N] [--commit SHA ...] FOLDER ... > fixes.jsonl`

FOLDER is as for `benchmarks.honest_changes`. Of each clone the newest N fixes are taken whose own tests fail without
them: the right fix with its tests, then up to four variants that these tests reject. A fix that tests of the base
contradict is tried alone (`contradicts`) and counts for none of the N. `form` says with which tests a
variant comes: `left out` (the base's), `kept` (the fix's, which fail), `bent` (the fix's, edited until they pass; not
tried where the base's tests reject the variant), `examined` (bent, and the fix's own as the tests of an examiner).
`python -m benchmarks.wrong_fixes --table FILE ...` counts such lines. Opt-in: it takes long.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath

from benchmarks.bent_tests import bend
from benchmarks.honest_changes import History, Judged, check_out, clones_in, git
from benchmarks.wrong_variants import Variant, variants_of
from loopwright.kernel.model import Commit

_FIX = re.compile(r"\b(?:fix(?:e[sd])?|bug|regression|crash|wrong|incorrect)", re.IGNORECASE)
_MOST = {"partial": 2, "inverted": 1, "swapped": 1}
_AUTHOR = ("-c", "user.name=Bench", "-c", "user.email=bench@localhost")
LANDED = ("whole", "held")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial(Judged):
    project: str
    commit: str
    subject: str
    kind: str  # right, partial, inverted, swapped
    form: str  # with tests, contradicts, left out, kept, bent, examined
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A commit with its base: the texts of both by path, product and tests apart."""

    history: History
    base: Commit
    commit: Commit
    message: str
    before: Mapping[str, str] = field(default_factory=dict)  # product
    after: Mapping[str, str] = field(default_factory=dict)
    tests: tuple[str, ...] = ()

    def with_product(self, start: Commit, texts: Mapping[str, str], also: Mapping[str, str] | None = None) -> Commit:
        """Commit the fix's product with these texts on top of another commit."""
        folder = self.history.folder
        check_out(folder, start)
        removed = self.before.keys() - self.after.keys()
        for path, text in {**self.after, **texts, **(also or {})}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
            git(folder, "add", "-f", path)
        git(folder, "rm", "-q", "--ignore-unmatch", *removed) if removed else ""
        git(folder, *_AUTHOR, "commit", "-q", "--allow-empty", "--no-verify", "-m", self.message)
        return Commit(git(folder, "rev-parse", "HEAD"))

    @property
    def is_agreed(self) -> bool:
        """Whether all tests of the base pass with the fix."""
        return self.passes(self.with_product(self.base, {}))

    def passes(self, commit: Commit) -> bool:
        check_out(self.history.folder, commit)
        return self.history.run_bare()

    def judge(self, candidate: Commit, hidden: tuple[str, ...] = ()) -> Judged:
        history = History(self.history.folder)
        check_out(history.folder, self.base)
        asyncio.run(history.verify(self.base, self.base, "preflight"))
        return asyncio.run(history.judge(self.base, candidate, self.message, hidden=hidden))


def fixes_of(history: History, commits: list[str]) -> Iterator[Fix]:
    """Yield the commits that say they fix something, are green, and whose tests fail without their product."""
    for commit in commits or history.newest():
        message = git(history.folder, "log", "-1", "--format=%B", commit)
        if not commits and not _FIX.search(message):
            continue
        fix = read_fix(history, Commit(git(history.folder, "rev-parse", commit)), message)
        if not fix.tests or not fix.after or not fix.passes(fix.commit) or not fix.passes(fix.base):
            continue
        if not fix.passes(fix.with_product(fix.commit, fix.before)):
            yield fix


def read_fix(history: History, commit: Commit, message: str) -> Fix:
    folder, base = history.folder, Commit(git(history.folder, "rev-parse", f"{commit}^1"))
    paths = git(folder, "diff", "--no-renames", "--name-only", base, commit).splitlines()
    product = tuple(path for path in paths if history.is_product(path))
    return Fix(
        history=history,
        base=base,
        commit=commit,
        message=message,
        before=_texts(folder, base, product),
        after=_texts(folder, commit, product),
        tests=tuple(path for path in paths if history.is_test(path) and _texts(folder, commit, (path,))),
    )


def _texts(folder: Path, commit: Commit, paths: tuple[str, ...]) -> dict[str, str]:
    there = {path: _shown(folder, f"{commit}:{path}") for path in paths}
    return {path: text for path, text in there.items() if text is not None}


def _shown(folder: Path, name: str) -> str | None:
    ran = subprocess.run(["git", "show", name], cwd=folder, check=False, capture_output=True)
    try:
        return ran.stdout.decode() if ran.returncode == 0 else None
    except UnicodeDecodeError:
        return None


def wrong_variants(fix: Fix) -> Iterator[Variant]:
    """Yield those that the fix's own tests reject, a few of each kind."""
    found = Counter[str]()
    for variant in variants_of(fix.before, fix.after):
        if found[variant.kind] < _MOST[variant.kind] and not fix.passes(fix.with_product(fix.commit, variant.texts)):
            found[variant.kind] += 1
            yield variant


def trials_of(fix: Fix) -> Iterator[Trial]:
    def trial(judged: Judged, kind: str, form: str, place: str = "") -> Trial:
        return Trial(
            project=fix.history.folder.name,
            commit=fix.commit[:10],
            subject=fix.message.splitlines()[0][:72],
            kind=kind,
            form=form,
            place=place,
            **asdict(judged),
        )

    if not fix.is_agreed:
        yield trial(fix.judge(fix.commit), "right", "contradicts")
        return
    yield trial(fix.judge(fix.commit), "right", "with tests")
    for variant in list(wrong_variants(fix)):
        alone = fix.judge(fix.with_product(fix.base, variant.texts))
        yield trial(alone, variant.kind, "left out", variant.place)
        kept = fix.with_product(fix.commit, variant.texts)
        yield trial(fix.judge(kept), variant.kind, "kept", variant.place)
        if alone.outcome != "stopped" and (bent := _bent(fix, kept)):
            candidate = fix.with_product(fix.commit, variant.texts, bent)
            yield trial(fix.judge(candidate), variant.kind, "bent", variant.place)
            own = {_examined(path): text for path, text in _texts(fix.history.folder, fix.commit, tuple(bent)).items()}
            candidate = fix.with_product(fix.commit, variant.texts, {**bent, **own})
            yield trial(fix.judge(candidate, tuple(own)), variant.kind, "examined", variant.place)


def _examined(path: str) -> str:
    """Return where an examiner puts its copy of a test file."""
    return str(PurePosixPath(path).with_name(f"test_examined_{PurePosixPath(path).stem.removeprefix('test_')}.py"))


def _bent(fix: Fix, kept: Commit) -> dict[str, str] | None:
    check_out(fix.history.folder, kept)
    python = tuple(path for path in fix.tests if path.endswith(".py"))
    return bend(fix.history.folder, python, fix.history.environ) if python else None


def table(rows: list[Trial]) -> str:
    lines = ["| form | trials | shown | landed | landed, guarded | waits | stopped |", "|---" * 7 + "|"]
    for form in dict.fromkeys(row.form for row in rows):
        group = [row for row in rows if row.form == form]
        landed = [row for row in group if row.outcome in LANDED]
        ends = Counter(row.outcome for row in group)
        counts = (len(group), sum(row.level == "shown" for row in group), len(landed))
        guarded = sum(row.level == "guarded" for row in landed)
        lines.append(f"| {form} | {' | '.join(map(str, (*counts, guarded, ends['waits'], ends['stopped'])))} |")
    return "\n".join(lines)


def _trials(folder: Path, count: int, commits: list[str]) -> Iterator[Trial]:
    for fix in fixes_of(History(folder), commits):
        for row in trials_of(fix):
            yield row
        count -= row.form != "contradicts"
        if not count:
            return


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wrong_fixes", description=__doc__)
    parser.add_argument("--count", type=int, default=3, help="fixes of each project")
    parser.add_argument("--commit", action="append", default=[], help="take these instead of the newest")
    parser.add_argument("--table", action="store_true", help="the arguments are files of lines; print a table of them")
    parser.add_argument("places", nargs="+", type=Path)
    asked = parser.parse_args(words)
    if asked.table:
        lines = "".join(place.read_text() for place in asked.places).splitlines()
        print(table([Trial(**json.loads(line)) for line in lines]))
        return 0
    for folder in clones_in(asked.places):
        stood = git(folder, "rev-parse", "--abbrev-ref", "HEAD")
        for row in _trials(folder, asked.count, asked.commit):
            print(json.dumps(asdict(row)), flush=True)
        if stood != "HEAD":
            git(folder, "checkout", "-q", "--force", stood)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
