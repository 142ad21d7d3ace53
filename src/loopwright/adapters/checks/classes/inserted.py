"""Whether a test file was only added to: whole blocks, where no test of the base stands; Python by its syntax tree."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import PurePosixPath

from loopwright.adapters.checks.classes.brackets import Pair, around, blanked, has_brackets, pairs
from loopwright.adapters.checks.classes.python_additions import python_change
from loopwright.adapters.checks.classes.widened import takes, unwidened
from loopwright.kernel.judges import is_source

_LINES = 20_000  # more than this are not compared
# What, once inserted, reaches the tests of the base: by language.
_STEERS = {
    "js": re.compile(
        r"""\.(?:only|skip|todo|failing|fixme|runIf|skipIf)\b | \b(?:xit|xdescribe|xtest|xcontext|fit|fdescribe|ftest)\b
          | \bprocess\.(?:exit|abort|kill|reallyExit|on|exitCode|env)\b | \b(?:before|after)(?:Each|All)?\s*\(
          | \b(?:jest|vi)\.(?:mock|doMock|unmock|setMock|setTimeout|retryTimes)\b | \bprototype\b | \brequire\.cache\b
          | \bmodule\.exports\s*= | \bexport\s+default\b | \.bailout\b | \bglobal(?:This)?\b | \bskip\s*:
        """,
        re.VERBOSE,
    ),
    "go": re.compile(r"\bfunc\s+(?:TestMain|init)\b|\bos\.Exit\b|\bsyscall\.(?:Exit|Kill)\b"),
    "rust": re.compile(r"#!\[|\bmacro_rules\b|\bprocess::(?:exit|abort)\b"),
    "c": re.compile(
        r"""@(?:Before|After)\w*\b | @(?:RunWith|ExtendWith)\b | \bSystem\.exit\b | \bstatic\s*\{
          | ^[ \t]*\#[ \t]*(?:if|ifdef|ifndef|define|undef|else|elif|endif|pragma|include)\b
          | \b(?:exit|_exit|abort|quick_exit|longjmp)\s*\( | \bfunction\s+(?:setUp|tearDown)\b | \bmarkTestSkipped\b
        """,
        re.VERBOSE | re.MULTILINE,
    ),
    "ruby": re.compile(r"\b(?:before|after|around|setup|teardown|skip|pending|exit!?|abort|at_exit|focus|fit|xit)\b"),
}
_HOOK = re.compile(r"(?:before|after)")
_GROUPS = re.compile(
    r"""(?:\b(?:mod|impl|class|struct|object|interface|namespace|extension)\b[^;{}()]*(?:\([^()]*\))?[^;{}()]*$)
      | (?:\b(?:describe|context|suite|group)\b[^\n]*(?:=>|\bfunction\s*\w*\s*\([^()]*\))\s*$)
    """,
    re.VERBOSE,
)
_DECLARES = re.compile(
    r"""^[ \t]*(?:export\s+)?(?:
        (?:const|let|var|class|(?:async\s+)?function\s*\*?)\s*(?:\b([\w$]+)|[{\[]([^}\]]*)[}\]])
      | import\s+(?:type\s+)?(?:\*\s*as\s+)?([\w$]+)?\s*,?\s*(?:\{([^{}]*)\})?\s*from\b)
    """,
    re.VERBOSE | re.MULTILINE,
)
_GROUP_CALL = re.compile(r"\b(?:describe|context|suite|group)(?:\.\w+)*\s*$")
_GO_GROUP = re.compile(r"(?:^|\n)(?:import|var|const|type)$")
_HANGING = re.compile(r"(?:^|\n)[ \t]*(?:#\[|@\w)[^\n]*$")
_CONTINUES = ("\\", "=", "(", "+", "&", "|")
_LIST = re.compile(r"(?:^|[=(,:\[{&>]|\bdefault|\breturn|vec!|\bin)\s*$")
_GO_LIST = re.compile(r"(?:\[\w*\]|\bmap\[[^\]]*\])[\w.*\[\]]*(?:\s*struct\s*\{[^{}]*\})?\s*$", re.DOTALL)
_SKIP_LISTS = re.compile(
    r"skip|xfail|ignore|exclude|known|allow|disabled|quarantine|flaky|expected.?fail", re.IGNORECASE
)
_RUBY = (".rb", ".ex", ".exs", ".lua", ".cr", ".jl")
_LOADS = re.compile(r"""\s*require(?:_relative)?\s*\(?\s*(['"])[\w./-]+\1\s*\)?\s*$""")
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
    if path.endswith((".py", ".pyi")):
        return python_change(before, after)
    if max(before.count("\n"), after.count("\n")) > _LINES:
        return "it is too long to be compared"
    after = unwidened(path, before, after)
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    hunks = list(_hunks(old, new))
    if any(hunk is None for hunk in hunks):
        return "lines of the base were changed or removed"
    whole = [hunk for hunk in hunks if hunk is not None]
    if not is_source(path):
        return "it is a list of what is left out" if _SKIP_LISTS.search(path) else ""
    if has_brackets(path):
        return _by_brackets(path, before, after, whole)
    if PurePosixPath(path).suffix in _RUBY:
        return _by_indent(whole)
    return "" if path.endswith(".bats") and all(_is_bats(hunk) for hunk in whole) else "its language is not known here"


def _hunks(old: list[str], new: list[str]) -> Iterator[_Hunk | None]:
    """None stands for anything that is not purely inserted."""
    if old and not old[-1].endswith("\n"):
        old = [*old[:-1], old[-1] + "\n"]
    for tag, _, _, first, last in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "insert":
            yield _Hunk(first, tuple(new[first:last]))
        elif tag != "equal":
            yield None


def _slid(hunk: _Hunk, lines: list[str]) -> Iterator[_Hunk]:
    """The same insertion told otherwise: where the line before it is its last line too, it may begin there."""
    for step in (-1, 1):
        at = hunk
        while at.lines:
            if step < 0 and at.first > 0 and lines[at.first - 1] == at.lines[-1]:
                at = _Hunk(at.first - 1, (lines[at.first - 1], *at.lines[:-1]))
            elif step > 0 and at.first + len(at.lines) < len(lines) and lines[at.first + len(at.lines)] == at.lines[0]:
                at = _Hunk(at.first + 1, (*at.lines[1:], at.lines[0]))
            else:
                break
            yield at


def _by_brackets(path: str, before: str, after: str, hunks: list[_Hunk]) -> str:
    bare, lines = blanked(path, after), after.splitlines(keepends=True)
    found = pairs(bare)
    if found is None:
        return "its brackets cannot be told"
    new = {number for hunk in hunks for number in range(hunk.first, hunk.first + len(hunk.lines))}
    kept = [line for number, line in enumerate(bare.splitlines()) if number not in new]
    old = blanked(path, before)
    if kept != old.splitlines():
        return "what is new makes code of the base a string or a comment"
    starts = list(accumulate(map(len, lines), initial=0))
    code = _Code(path, old, bare, found)
    for hunk in hunks:
        tries = (code.problem(each, starts) for each in (hunk, *_slid(hunk, lines)))
        first = next(tries)
        if first and all(tries):
            return first
    return ""


@dataclass(frozen=True, slots=True)
class _Code:
    path: str
    base: str  # bare as well, before anything was inserted
    bare: str
    pairs: tuple[Pair, ...]

    def problem(self, hunk: _Hunk, starts: list[int]) -> str:
        """Why these lines are more than a whole block where one may stand; empty when they are one."""
        start, end = starts[hunk.first], starts[hunk.first + len(hunk.lines)]
        inserted = self.bare[start:end]
        if not hunk.text.strip():
            return ""
        # Blanking the part alone must give the same: else it opens or closes a string or a comment of the base.
        if blanked(self.path, hunk.text) != inserted or pairs(inserted) is None:
            return "what is new is no whole block"
        for steers in _STEERS[_family(self.path)].finditer(inserted):
            if not (_HOOK.match(steers[0]) and self._is_in_new_group(start + steers.start(), start)):
                return f"`{steers[0].strip()}` is new and reaches tests of the base"
        if name := next((each for each in self._declared(start, inserted) if takes(each, self.base)), ""):
            return f"`{name}` is declared anew, and tests of the base use it"
        if _HANGING.search(inserted.rstrip()) or hunk.text.rstrip().endswith(_CONTINUES):
            return "what is new ends with a sign for what follows"
        inner = [pair for pair in around(start + 1, self.pairs) if pair.start < start and pair.end > end]
        if inner and _is_rows(inserted) and self._is_table(inner[-1]):
            return ""
        if not all(self._welcomes(pair) for pair in inner):
            return "what is new stands inside a test of the base"
        return ""

    def _declared(self, start: int, inserted: str) -> Iterator[str]:
        """Names that get a meaning outside of what is new. Other languages let no name be declared twice."""
        for found in _DECLARES.finditer(inserted) if _family(self.path) == "js" else ():
            if not any(pair.start >= start for pair in around(start + found.start(), self.pairs)):
                yield from re.findall(r"[\w$]+(?=\s*(?:,|=|$))", ",".join(filter(None, found.groups())))

    def _is_in_new_group(self, place: int, start: int) -> bool:
        """What a group does before and after its tests is nothing to those outside."""
        blocks = (pair for pair in around(place, self.pairs) if pair.sign == "{" and pair.start >= start)
        return any(self._welcomes(pair) for pair in blocks)

    def _is_table(self, pair: Pair) -> bool:
        """A list whose rows are cases."""
        head = self.bare[max(0, pair.start - 400) : pair.start].rstrip()
        if _SKIP_LISTS.search(head.rpartition("\n")[2]):
            return False
        if pair.sign == "[":
            return _LIST.search(head) is not None
        return self.path.endswith(".go") and pair.sign == "{" and _GO_LIST.search(head) is not None

    def _welcomes(self, pair: Pair) -> bool:
        """Whether a block or list of the base may hold more than it did."""
        head = self.bare[max(0, pair.start - 400) : pair.start].rstrip()
        if pair.sign == "[":
            return self._is_table(pair)
        if pair.sign == "(":
            return _GROUP_CALL.search(head) is not None or _GO_GROUP.search(head) is not None
        return _GROUPS.search(head[-200:]) is not None


def _family(path: str) -> str:
    suffix = PurePosixPath(path).suffix
    if suffix in (".go", ".rs"):
        return "go" if suffix == ".go" else "rust"
    return "js" if re.fullmatch(r"\.[cm]?[jt]sx?", suffix) else "c"


def _is_rows(inserted: str) -> bool:
    """Rows of a table, which hold no statement: each is a literal that ends with a comma."""
    bare = inserted.strip()
    rows = bare.startswith(("{", "[")) or not re.search(r"[\w(]", bare)  # strings are blank by now
    return rows and bare.endswith(",") and re.search(r"\bfunc\b|=>|\bfunction\b|;|:=|[^=!<>]=[^=]|\w\(", bare) is None


def _by_indent(hunks: list[_Hunk]) -> str:
    """Languages whose blocks end with `end`: a block opens and closes at one depth."""
    for hunk in hunks:
        lines = [line for line in hunk.lines if line.strip() and not _LOADS.match(line)]
        if not lines:
            continue
        depth = len(lines[0]) - len(lines[0].lstrip())
        inner = [line for line in lines if len(line) - len(line.lstrip()) == depth]
        heads, ends = inner[0::2], inner[1::2]
        whole = all(_OPENS.match(head) for head in heads) and all(end.strip() in ("end", "end)") for end in ends)
        if not whole or len(heads) != len(ends) or any(len(line) - len(line.lstrip()) < depth for line in lines):
            return "what is new is no whole block"
        if steers := _STEERS["ruby"].search(hunk.text):
            return f"`{steers[0].strip()}` is new and reaches tests of the base"
    return ""


def _is_bats(hunk: _Hunk) -> bool:
    text = hunk.text.strip()
    return (not text) or (
        text.startswith("@test ") and text.endswith("}") and text.count("@test ") == text.count("\n}")
    )
