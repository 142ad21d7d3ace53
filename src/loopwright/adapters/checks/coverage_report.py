"""Coverage reports, Cobertura XML or lcov, to lines that ran and lines that did not. Read strictly, as every report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from xml.parsers import expat

from loopwright.adapters.checks.reports import Exists, ReportRefused
from loopwright.kernel.visible import visible

_DEEPEST_LINE = 10_000_000
_LONGEST_NUMBER = 20  # digits; a counter of 64 bits has no more


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCoverage:
    """Lines that hold code, in order; a line that is in neither holds none."""

    file: str
    covered: tuple[int, ...]
    missed: tuple[int, ...]

    @property
    def percent(self) -> float:
        whole = len(self.covered) + len(self.missed)
        return 100.0 * len(self.covered) / whole if whole else 100.0


_Found = dict[str, dict[int, bool]]  # by file: the lines that hold code, and whether each ran


def read_coverage(content: bytes, root: str, exists: Exists) -> tuple[FileCoverage, ...]:
    """Every file of the checkout that the report speaks of. Raises `ReportRefused` for what is neither format.

    `root` is the folder the tool ran in; `exists` knows which relative paths are files there.
    """
    if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        found, sources = _cobertura(content)
    else:
        found, sources = _lcov(content), ()
    placed: _Found = {}
    for name, lines in found.items():
        if file := _placed(name, sources, root, exists):
            for number, ran in lines.items():
                _note(placed.setdefault(file, {}), number, ran=ran)
    return tuple(
        FileCoverage(
            file=file,
            covered=tuple(sorted(number for number, ran in lines.items() if ran)),
            missed=tuple(sorted(number for number, ran in lines.items() if not ran)),
        )
        for file, lines in sorted(placed.items())
    )


def _note(lines: dict[int, bool], number: int, *, ran: bool) -> None:
    """A line that ran in one of several entries ran."""
    lines[number] = lines.get(number, False) or ran


def _placed(name: str, sources: tuple[str, ...], root: str, exists: Exists) -> str:
    """The path within the checkout; empty for a file that is not there."""
    here = root.rstrip("/") + "/"
    roots = () if name.startswith("/") else sources
    for whole in (*(f"{source.rstrip('/')}/{name}" for source in roots), name):
        path = whole.removeprefix(here).removeprefix("./")
        if not path.startswith("/") and ".." not in path.split("/") and exists(path):
            return path
    return ""


# --- Cobertura -----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Cobertura:
    """What the parser has seen so far."""

    found: _Found = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)
    root: str = ""
    file: str = ""
    text: list[str] | None = None  # of the <source> that is open

    def began(self, name: str, attributes: dict[str, str]) -> None:
        if not self.root:
            self.root = name
            if name != "coverage" or "line-rate" not in attributes:
                raise ReportRefused("its report is XML but no Cobertura report")
        match name:
            case "source":
                self.text = []
            case "class":
                self.file = attributes.get("filename", "")
            case "line" if self.file:
                self._line(attributes)
            case _:
                pass  # packages, methods, conditions

    def ended(self, name: str) -> None:
        if name == "source" and self.text is not None:
            self.sources.append("".join(self.text).strip())
            self.text = None
        elif name == "class":
            self.file = ""

    def said(self, text: str) -> None:
        if self.text is not None:
            self.text.append(text)

    def _line(self, attributes: dict[str, str]) -> None:
        number, hits = _number(attributes.get("number", "")), _number(attributes.get("hits", ""))
        _note(self.found.setdefault(self.file, {}), _line_number(number), ran=hits > 0)


def _cobertura(content: bytes) -> tuple[_Found, tuple[str, ...]]:
    """Many tools name the format's DTD, which is never fetched; one that declares entities of its own is an attack."""
    seen = _Cobertura()
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _refuse_subset
    parser.EntityDeclHandler = _refuse_entity
    parser.StartElementHandler = seen.began
    parser.EndElementHandler = seen.ended
    parser.CharacterDataHandler = seen.said
    try:
        parser.Parse(content, True)  # noqa: FBT003  expat takes no keyword
    except ReportRefused:  # a ValueError too, and in its own words already
        raise
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise ReportRefused(f"its report is not XML: {error}") from error
    return seen.found, tuple(source for source in seen.sources if source)


def _refuse_subset(_name: str, _system: str | None, _public: str | None, internal: int) -> None:
    if internal:
        raise ReportRefused("its report declares a DOCTYPE of its own, which no coverage tool writes")


def _refuse_entity(*_: object) -> None:
    raise ReportRefused("its report declares entities, which no coverage tool writes")


# --- lcov ----------------------------------------------------------------------------------------


def _lcov(content: bytes) -> _Found:
    found: _Found = {}
    held: dict[int, bool] | None = None
    for line in content.decode("utf-8", "surrogateescape").splitlines():
        key, _, value = line.strip().partition(":")
        match key:
            case "SF":
                held = found.setdefault(value, {})
            case "DA" if held is not None:
                number, hits = (*value.split(","), "", "")[:2]
                ran = not hits.startswith("-") and _number(hits) > 0
                _note(held, _line_number(_number(number)), ran=ran)
            case "end_of_record":
                held = None
            case _:
                pass  # branches, functions, totals
    if not found:
        raise ReportRefused("its report is neither Cobertura XML nor lcov")
    return found


def _number(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > _LONGEST_NUMBER:
        raise ReportRefused(f"its report has {visible(text[:40])!r} where a number belongs")
    return int(text)


def _line_number(number: int) -> int:
    if not 0 < number < _DEEPEST_LINE:
        raise ReportRefused(f"its report speaks of a line {number}")
    return number


# --- lines in words ------------------------------------------------------------------------------


def ranges(lines: Iterable[int]) -> str:
    """`4-6, 9`: the lines, which are in order, with neighbours drawn together."""
    spans: list[tuple[int, int]] = []
    for line in lines:
        if spans and line == spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], line)
        else:
            spans.append((line, line))
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)
