"""Which tools judge what, and what their opinions come to. Nothing judged is not passed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass

from loopwright.adapters.tools.artifacts import ArtifactFiles, gather, is_test
from loopwright.adapters.tools.assignment import ToolAssignment
from loopwright.adapters.tools.configured import judged_by
from loopwright.adapters.tools.designs import judge_designs, judge_plans
from loopwright.adapters.tools.linters import bandit, eslint, ruff
from loopwright.adapters.tools.opinions import ToolOpinion, blocks, gathered
from loopwright.adapters.tools.plan import ToolPlan
from loopwright.adapters.tools.python_tests import read_tests
from loopwright.adapters.tools.stories import judge_stories
from loopwright.adapters.tools.suppressions import added_suppressions
from loopwright.adapters.tools.type_checkers import mypy, tsc
from loopwright.adapters.tools.uncovered import covered
from loopwright.adapters.tools.workshop import Workshop
from loopwright.kernel.model import Finding, Severity
from loopwright.kernel.visible import visible

COMPREHENSIVE = "comprehensive"
_FEW = 5  # names in a line
_Work = Coroutine[None, None, ToolOpinion]
_DOCUMENTS: dict[str, tuple[str, Callable[..., ToolOpinion]]] = {
    "story": ("yaml", judge_stories),
    "design": ("markdown", judge_designs),
    "plan": ("markdown", judge_plans),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    findings: tuple[Finding, ...]
    ran: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def blocks(self) -> bool:
        return blocks(self.findings)

    def summary(self, subject: str) -> str:
        count = (
            f"{len(self.findings)} finding{'' if len(self.findings) == 1 else 's'}"
            if self.findings
            else "nothing found"
        )
        parts = [f"{visible(subject)}: {count}", f"ran: {', '.join(self.ran) or 'nothing'}"]
        if self.missing:
            parts.append(f"not found: {', '.join(self.missing)}")
        return "; ".join((*parts, *self.notes)) + "."


async def review(shop: Workshop, plan: ToolPlan, assignment: ToolAssignment) -> Review:
    artifacts = [gather(shop.folder, path) for path in assignment.subjects]
    files = tuple(dict.fromkeys(file for artifact in artifacts for file in artifact.files))
    whole = ArtifactFiles(path=", ".join(assignment.subjects), files=files, more=any(each.more for each in artifacts))
    opinions = await _opinions(shop, plan, assignment, whole) if files else ()
    judged = {file for opinion in opinions for file in opinion.files}
    found = [finding for opinion in opinions for finding in opinion.findings]
    if assignment.gate not in _DOCUMENTS:
        found += added_suppressions(assignment.fix, shop.folder)
    if not judged or whole.more:
        found.append(_unjudged(whole, assignment.gate, opinions))
    left = [file for file in files if file not in judged]
    return Review(
        findings=gathered(found),
        ran=tuple(opinion.tool for opinion in opinions if opinion.files),
        missing=tuple(opinion.missing for opinion in opinions if opinion.missing),
        notes=(*((f"not judged: {_few(left)}",) if left else ()), *(each.note for each in opinions if each.note)),
    )


async def _opinions(
    shop: Workshop, plan: ToolPlan, assignment: ToolAssignment, artifact: ArtifactFiles
) -> tuple[ToolOpinion, ...]:
    if assignment.gate in _DOCUMENTS:
        kind, judge = _DOCUMENTS[assignment.gate]
        mine = artifact.of(kind)
        return (judge(shop.folder, mine),) if mine else ()
    static = _static(shop, plan, assignment.gate, artifact)
    found = list(await asyncio.gather(*(_told(shop, work) for work in static)))
    if assignment.gate == "test":
        found.append(read_tests(shop.folder, artifact.of("python")))
    elif assignment.depth == COMPREHENSIVE:
        found.append(await _told(shop, covered(shop, plan, artifact)))
    return tuple(found)


def _static(shop: Workshop, plan: ToolPlan, gate: str, artifact: ArtifactFiles) -> list[_Work]:
    """A configured check stands in for the tool of its kind, and for every language."""
    python, scripts = artifact.of("python"), artifact.of("javascript", "typescript")
    typed, source = artifact.of("typescript"), tuple(file for file in python if not is_test(file))
    usual: dict[str, list[_Work]] = {
        "lint": [*_for(ruff, shop, python), *_for(eslint, shop, scripts)],
        "typecheck": [
            *([mypy(shop, python, plan)] if python else []),
            *_for(tsc, shop, typed),
        ],
        "security": [] if gate == "test" else _for(bandit, shop, source),
        "complexity": [],
    }
    chosen: list[_Work] = []
    for name, works in usual.items():
        check = plan.check(name)
        if check is None:
            chosen += works
            continue
        for work in works:
            work.close()
        if not (gate == "test" and name == "security"):
            chosen.append(judged_by(shop, check, artifact))
    return chosen


def _for(judge: Callable[[Workshop, tuple[str, ...]], _Work], shop: Workshop, files: tuple[str, ...]) -> list[_Work]:
    return [judge(shop, files)] if files else []


async def _told(shop: Workshop, work: _Work) -> ToolOpinion:
    opinion = await work
    found = "1 finding" if len(opinion.findings) == 1 else f"{len(opinion.findings)} findings"
    shop.say(f"{opinion.tool}: {'not found' if opinion.missing else found}")
    return opinion


def _unjudged(artifact: ArtifactFiles, gate: str, opinions: tuple[ToolOpinion, ...]) -> Finding:
    if artifact.more:
        issue, evidence = f"{artifact.path} has too many files to judge at once", f"the first: {_few(artifact.files)}"
        guidance = "Review its parts one by one."
    elif not artifact.files:
        issue, evidence = f"There is nothing to judge at {artifact.path}", "no file of the candidate is there"
        guidance = "Name a file or folder that the candidate holds."
    else:
        issue = f"No tool could judge {artifact.path}"
        evidence = f"gate {gate or 'code'}; files: {_few(artifact.files)}; looked for: " + (
            ", ".join(opinion.missing for opinion in opinions if opinion.missing) or "nothing fits files of this kind"
        )
        guidance = (
            "Install the tools with `pip install 'loopwright[tools]'`, or configure a check named lint, typecheck,"
            ' security or complexity with report = "sarif" in loop.toml.'
        )
    return Finding(
        severity=Severity.HIGH, category="tools", rule="not-judged", issue=issue, evidence=evidence, guidance=guidance
    )


def _few(files: Iterable[str]) -> str:
    names = list(files)
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return ", ".join(visible(name) for name in names[:_FEW]) + more
