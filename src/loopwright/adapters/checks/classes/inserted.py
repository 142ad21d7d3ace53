"""Whether a test file that is not Python was only added to: whole blocks, where no test of the base stands."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from loopwright.adapters.checks.classes.brackets import around, blanked, has_brackets, pairs
from loopwright.kernel.judges import is_source

_LINES = 20_000  # more than this are not compared
# What, once inserted, reaches the tests of the base.
_STEERS = re.compile(
    r"""\.(?:only|skip|todo|failing|fixme|exclude|runIf|skipIf)\b | \b(?:xit|xdescribe|xtest|xcontext|fit|fdescribe|ftest|fcontext)\b
      | \bprocess\.(?:exit|abort|kill|reallyExit|on|exitCode)\b | \b(?:before|after)(?:Each|All)?\s*\( | \bsetTimeout\s*\(
      | \b(?:jest|vi)\.(?:mock|doMock|unmock|spyOn|setMock|useFakeTimers|retryTimes)\b | \bprototype\b | \brequire\.cache\b
      | \bmodule\.exports\b | \bexport\s+default\b | \bt\.(?:bailout|plan|end)\b | \bprocess\.env\b | \bglobal(?:This)?\b
      | \bfunc\s+(?:TestMain|init)\b | \bos\.Exit\b | \b[tb]\.Skip | \bpanic\b | \bruntime\.Goexit\b | //\s*(?:go:build|\+build)
      | \#!?\[\s*(?:ignore|cfg) | \bmacro_rules\b | \bprocess::(?:exit|abort)\b | \#\[\s*should_panic
      | @(?:Ignore|Disabled\w*|BeforeAll|BeforeEach|AfterAll|AfterEach|Before|After|BeforeClass|RunWith|ExtendWith)\b
      | \bassume\w*\s*\( | \bSystem\.exit\b | \bstatic\s*\{ | ^\s*\#\s*(?:if|ifdef|ifndef|define|undef|else|endif|pragma)\b
      | \b(?:exit|_exit|abort|quick_exit|longjmp)\s*\( | \bmarkTestSkipped\b | \bxskip\b | \bpending\b | \bskip\b
    """,
    re.VERBOSE | re.MULTILINE,
)
_GROUPS = re.compile(
    r"""(?:\b(?:mod|impl|class|struct|object|interface|namespace|extension)\b[^;{}()]*(?:\([^()]*\))?[^;{}()]*$)
      | (?:\b(?:describe|context|suite|group)\b[^\n]*(?:=>|\bfunction\s*\w*\s*\([^()]*\))\s*$)
    """,
    re.VERBOSE,
)
_GROUP_CALL = re.compile(r"\b(?:describe|context|suite|group)(?:\.\w+)*\s*$")
_LIST = re.compile(r"(?:^|[=(,:\[{&>]|\bdefault|\breturn|vec!|\bin)\s*$")
_GO_LIST = re.compile(r"(?:\[\w*\]|\bmap\[[^\]]*\])[\w.*\[\]]*(?:\s*struct\s*\{[^{}]*\})?\s*$", re.DOTALL)
_SKIP_LISTS = re.compile(
    r"skip|xfail|ignore|exclude|known|allow|disabled|quarantine|flaky|expected.?fail", re.IGNORECASE
)
_RUBY = (".rb", ".ex", ".exs", ".lua", ".cr", ".jl")
_OPENS = re.compile(r"\s*(?:it|test|def|describe|context|specify|scenario|feature|property|@testset)\b")


@dataclass(frozen=True, slots=True)
class _Hunk:
    first: int  # its line in the new text
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "".join(self.lines)


def inserted_change(path: str, before: str, after: str) -> str:
    """What of the base is no longer as it was, in words; empty when whole blocks were added and nothing else."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if max(len(old), len(new)) > _LINES:
        return "it is too long to be compared"
    hunks = list(_hunks(old, new))
    if any(hunk is None for hunk in hunks):
        return "lines of the base were changed or removed"
    whole = [hunk for hunk in hunks if hunk is not None]
    if not is_source(path):
        return "it is a list of what is left out" if _SKIP_LISTS.search(path) else ""
    if has_brackets(path):
        return _by_brackets(path, after, new, whole)
    if PurePosixPath(path).suffix in _RUBY:
        return _by_indent(whole)
    return "" if path.endswith(".bats") and all(_is_bats(hunk) for hunk in whole) else "its language is not known here"


def _hunks(old: list[str], new: list[str]) -> Iterator[_Hunk | None]:
    """None stands for anything that is not purely inserted."""
    if old and new and not old[-1].endswith("\n"):
        old = [*old[:-1], old[-1] + "\n"]
    for tag, _, _, first, last in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "insert":
            yield _Hunk(first, tuple(new[first:last]))
        elif tag != "equal":
            yield None


def _by_brackets(path: str, after: str, lines: list[str], hunks: list[_Hunk]) -> str:
    bare = blanked(path, after)
    found = pairs(bare)
    if found is None:
        return "its brackets cannot be told"
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    for hunk in hunks:
        start, end = starts[hunk.first], starts[hunk.first + len(hunk.lines)]
        inserted = bare[start:end]
        if not hunk.text.strip():
            continue
        # Blanking the part alone must give the same: else it opens or closes a string or a comment of the base.
        if blanked(path, hunk.text) != inserted or pairs(inserted) is None:
            return "what is new is no whole block"
        if steers := _STEERS.search(inserted):
            return f"`{steers[0].strip()}` is new and reaches tests of the base"
        if not all(_welcomes(path, bare, pair.start, pair.sign, inserted) for pair in around(start + 1, found)):
            return "what is new stands inside a test of the base"
    return ""


def _welcomes(path: str, bare: str, place: int, sign: str, inserted: str) -> bool:
    """Whether a block or list of the base may hold more than it did."""
    head = bare[max(0, place - 400) : place].rstrip()
    last = head[-200:]
    if sign == "[":
        return _LIST.search(last) is not None and _SKIP_LISTS.search(last.rpartition("\n")[2]) is None
    if sign == "(":
        return _GROUP_CALL.search(last) is not None
    if path.endswith(".go"):
        if last.endswith(("import", "var", "const", "type")):
            return True
        return _GO_LIST.search(head) is not None or _is_rows(inserted)
    return _GROUPS.search(last) is not None


def _is_rows(inserted: str) -> bool:
    """Rows of a table, which hold no statement: each is a literal that ends with a comma."""
    bare = inserted.strip()
    return bare.endswith(",") and bare.startswith("{") and re.search(r"\bfunc\b|;|:=", bare) is None


def _by_indent(hunks: list[_Hunk]) -> str:
    """Languages whose blocks end with `end`: a block opens and closes at one depth."""
    for hunk in hunks:
        lines = [line for line in hunk.lines if line.strip()]
        if not lines:
            continue
        depth = len(lines[0]) - len(lines[0].lstrip())
        inner = [line for line in lines if len(line) - len(line.lstrip()) == depth]
        heads, ends = inner[0::2], inner[1::2]
        whole = all(_OPENS.match(head) for head in heads) and all(end.strip() in ("end", "end)") for end in ends)
        if not whole or len(heads) != len(ends) or any(len(line) - len(line.lstrip()) < depth for line in lines):
            return "what is new is no whole block"
        if steers := _STEERS.search(hunk.text):
            return f"`{steers[0].strip()}` is new and reaches tests of the base"
    return ""


def _is_bats(hunk: _Hunk) -> bool:
    text = hunk.text.strip()
    return (not text) or (
        text.startswith("@test ") and text.endswith("}") and text.count("@test ") == text.count("\n}")
    )
