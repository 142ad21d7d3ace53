"""What the classes would have meant for the commits a person made: how many would have asked, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from loopwright.adapters.checks.classes.classifier import Classifier
from loopwright.adapters.git.history import Made
from loopwright.kernel.trust import Classed, FileClass
from loopwright.kernel.wording import counted

_WORDS = {
    FileClass.JUDGE_BY_NAME: "what steers checks or installs",
    FileClass.CHANGED_TEST: "changed tests",
    FileClass.PRODUCT: "tests inside the product",
    FileClass.JUDGE: "files of no known kind",
}
_MOST = 5  # patterns that are worth a look


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedBack:
    commits: int = 0
    asking: int = 0  # of them, those that held a change which waits for a person
    reasons: tuple[str, ...] = ()  # "3 changed tests", the most frequent first
    patterns: tuple[str, ...] = ()  # to add to `product`, for what no pattern covers

    def __str__(self) -> str:
        if not self.commits:
            return "no commits to look back at"
        said = f"{self.asking} of the last {counted(self.commits, 'commit')} would have asked you"
        why = f" ({', '.join(self.reasons)})" if self.reasons else ""
        shown = ", ".join(f'"{pattern}"' for pattern in self.patterns)
        return said + why + (f"; add to product what agents may change: {shown}" if shown else "")


async def look_back(classifier: Classifier, made: Iterable[Made]) -> LookedBack:
    commits = tuple(made)
    reasons: Counter[str] = Counter()
    patterns: Counter[str] = Counter()
    asking = 0
    for each in commits:
        gated = [one for one in await classifier.classify(each.parent, each.commit) if one.is_gated]
        asking += bool(gated)
        reasons.update({_WORDS[one.kind] for one in gated})
        patterns.update({_pattern(one) for one in gated if one.kind is FileClass.JUDGE})
    return LookedBack(
        commits=len(commits),
        asking=asking,
        reasons=tuple(f"{count} {reason}" for reason, count in reasons.most_common()),
        patterns=tuple(pattern for pattern, _ in patterns.most_common(_MOST)),
    )


def _pattern(classed: Classed) -> str:
    """What would make it product: its folder, or the file where it has none."""
    folder, slash, _ = classed.change.path.partition("/")
    return f"{folder}/**" if slash else folder
