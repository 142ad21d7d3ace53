"""Which gates a change calls for, by rules on its paths and on what it adds; and what an approval is bound to."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from unicodedata import normalize

from loopwright.kernel.gates import matches
from loopwright.kernel.judges import Judge, judge_by_name
from loopwright.kernel.model import Change
from loopwright.kernel.quoting import one_line

_LONGEST = 200  # characters of a line that are shown
_UNREAD = "it is no text, or too large to be looked into"
_ENCODED = "it declares another encoding than UTF-8, ASCII or Latin-1"
_DATA_OF_DOCS = "docs/**/*.{yml,yaml,json}"
# Words in prose change nothing.
DOCUMENTATION = (
    "docs/**/*.{txt,html,css,tex,puml,drawio}",
    _DATA_OF_DOCS,
    "**/*.{md,rst,adoc}",
    "{readme,license,licence,copying,notice,authors,contributors,changelog,changes,news}",
    "**/{readme,license,licence,copying,notice,authors,contributors,changelog,changes,news}.txt",
)
# Below `docs/` too: somebody starts what they name.
CONTAINERS = (
    *("**/{docker-compose,compose}.{yml,yaml}", "**/{docker-compose,compose}.*.{yml,yaml}"),
    *("**/{k8s,kubernetes,helm}/**", "**/chart.yaml", "**/kustomization.{yml,yaml}"),
)
_DECLARED = re.compile(r"\s*#.*?coding[:=][ \t]*([-\w.]+)")
_READ_AS_WRITTEN = re.compile(r"(?:utf-?8(?:-sig)?|(?:us-)?ascii|(?:iso-)?latin-?1|iso-?8859-1)(?:-(?:unix|dos|mac))?")
# What such a file holds is looked at or listened to: where it is no text, that is what its name says.
_PICTURES = (
    "**/*.{png,jpg,jpeg,gif,webp,avif,ico,bmp,tif,tiff,svg,psd}",
    "**/*.{pdf,doc,docx,odt,xls,xlsx,ods,ppt,pptx,odp,epub}",
    "**/*.{mp3,mp4,ogg,wav,webm,mov,woff,woff2,ttf,otf,eot}",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRule:
    """One reason for a gate: a changed path matches one of `paths`, or a line that a change adds has one of `words`.

    Patterns and words match whatever their case.
    """

    gate: str
    name: str
    paths: tuple[str, ...] = ()  # patterns
    judges: tuple[Judge, ...] = ()  # as `paths`: files that are known by their names
    words: tuple[str, ...] = ()  # regular expressions
    within: tuple[str, ...] = ()  # words count in these files alone; empty: in all that people or agents write as code
    apart: tuple[str, ...] = ()  # patterns of files that never call for it


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """Where a rule found something: what a person is shown, and what their approval is bound to."""

    gate: str
    rule: str
    file: str
    line: int = 0  # of the file as it is now; 0: the path itself
    text: str = ""
    mark: str = ""  # digest of what was changed there: it becomes another one when that does

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedText:
    """What a change adds to one file."""

    path: str
    lines: tuple[tuple[int, str], ...] = ()  # each with its number in the file as it is now
    whole: bool = True  # false: it is too large, or no text: it may hold anything


def risks_in(
    changes: tuple[Change, ...], added: tuple[AddedText, ...], rules: tuple[GateRule, ...]
) -> tuple[Risk, ...]:
    """Where the rules find something: of each rule at most one place in a file, in the order of rules and files.

    A file that cannot be read whole is taken to hold every word. Two files may have one name; then they are one.
    """
    by_path: defaultdict[str, list[Change]] = defaultdict(list)
    for change in changes:
        by_path[change.path].append(change)
    texts: defaultdict[str, list[AddedText]] = defaultdict(list)
    for text in added:
        texts[text.path].append(text)
    found = (_risk(rule, path, by_path[path], texts[path]) for rule in rules for path in sorted(by_path))
    return tuple(dict.fromkeys(risk for risk in found if risk is not None))


def evidence_of(risks: Iterable[Risk]) -> str:
    """A digest of exactly what called for a gate: it changes when that does, and with nothing else."""
    marks = sorted({risk.mark for risk in risks})
    return _digest(*marks)[:24] if marks else ""


def _risk(rule: GateRule, path: str, changes: list[Change], texts: list[AddedText]) -> Risk | None:
    if _is_apart(path, rule.apart):
        return None
    if _is_any(path, rule.paths) or judge_by_name(path) in rule.judges:
        return _found(rule, path, _objects(changes))
    if not rule.words or not _is_looked_into(rule, path):
        return None
    if not all(is_read_as_written(text.lines) for text in texts):
        return _found(rule, path, _objects(changes), text=_ENCODED)
    if not all(text.whole for text in texts):
        return None if _is_any(path, _PICTURES) else _found(rule, path, _objects(changes), text=_UNREAD)
    lines = [(number, line) for text in texts for number, line in text.lines if _has_word(rule.words, line)]
    if not lines:
        return None
    first, said = lines[0]
    return _found(rule, path, sorted(" ".join(line.split()) for _, line in lines), line=first, text=said)


def _is_looked_into(rule: GateRule, path: str) -> bool:
    """A lock is written by a tool, and full of names and digests."""
    if rule.within:
        return _is_any(path, rule.within)
    return not _is_apart(path, DOCUMENTATION) and judge_by_name(path) is not Judge.LOCK


def _is_apart(path: str, patterns: tuple[str, ...]) -> bool:
    started = _is_any(path, CONTAINERS)
    return _is_any(path, tuple(each for each in patterns if not (started and each == _DATA_OF_DOCS)))


def is_read_as_written(lines: Iterable[tuple[int, str]]) -> bool:
    """Whether the first two lines declare no encoding in which the characters that are there say something else."""
    declared = (_DECLARED.match(line) for number, line in lines if number <= 2)  # noqa: PLR2004 - as Python looks for it
    return all(_READ_AS_WRITTEN.fullmatch(each[1].lower().replace("_", "-")) for each in declared if each)


def _found(rule: GateRule, path: str, bound_to: Iterable[str], *, line: int = 0, text: str = "") -> Risk:
    mark = _digest(rule.gate, rule.name, path, *bound_to)[:16]
    return Risk(gate=rule.gate, rule=rule.name, file=path, line=line, text=one_line(text, _LONGEST), mark=mark)


def _objects(changes: list[Change]) -> Iterator[str]:
    """What is there now: a file that is changed back and forth is the same change again."""
    return iter(sorted("removed" if each.how == "removed" else f"{each.mode} {each.blob}" for each in changes))


def _is_any(path: str, patterns: tuple[str, ...]) -> bool:
    return any(matches(path.lower(), pattern.lower()) for pattern in patterns)


def _has_word(words: tuple[str, ...], line: str) -> bool:
    """As languages read names: letters that only look otherwise are the same."""
    return _any_of(words).search(normalize("NFKC", line)) is not None


@cache
def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{word})" for word in words), re.IGNORECASE)


def _digest(*parts: str) -> str:
    """Each part with its length: no text can pass for two."""
    said = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(said.encode(errors="surrogatepass")).hexdigest()
