"""The rules of the gates as rows of the guide."""

import re

from loopwright.kernel.judges import Judge
from loopwright.kernel.risks import GateRule
from loopwright.loops.lifecycle.gate_rules import BEGINS, BUILT_IN, ENDS

_BLOCK = re.compile(r"(<!-- rules of the gates -->\n).*?(<!-- end of rules -->)", re.DOTALL)


def filled_in(page: str) -> str:
    return _BLOCK.sub(lambda block: block[1] + rows() + block[2], page)


def rows() -> str:
    head = "| gate | rule | what calls for it |\n|---|---|---|\n"
    return head + "".join(
        f"| {rule.gate} | {rule.name} | {_calls(rule).replace('|', chr(92) + '|')} |\n" for rule in BUILT_IN
    )


def _calls(rule: GateRule) -> str:
    parts = (
        _listed("a changed path:", rule.paths),
        " or ".join(f"a file that {Judge(judge).value}" for judge in rule.judges),
        _listed("an added line with", tuple(map(_word, rule.words))),
        _listed("in", rule.within),
    )
    return "; ".join(part for part in parts if part)


def _listed(what: str, patterns: tuple[str, ...]) -> str:
    return f"{what} {', '.join(f'`{pattern}`' for pattern in patterns)}" if patterns else ""


def _word(expression: str) -> str:
    """A word without what keeps it apart from longer ones."""
    word = expression.removeprefix(BEGINS).removesuffix(ENDS)
    return word.replace("[ _-]?", " ").replace("`", "'")
