"""How the bytes of a commit become those of a file, and back: attributes and filters, as the person's git has them.

Nothing an agent writes takes part. The attributes are those of the base, laid flat into the one file that wins
over every `.gitattributes` in a folder; the filters are the commands that the person's configuration had before
the loop began, run where the person would run them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.git.person_config import ConfigEntry, read_config
from loopwright.adapters.git.program import Git, name_of, path_of, readable
from loopwright.kernel.codec import decode
from loopwright.kernel.model import NO_COMMIT, Commit

CONVERSION = re.compile(r"core\.(autocrlf|eol|checkroundtripencoding)|filter\..+\.(clean|smudge|process|required)")
ATTRIBUTES_FILE = ".gitattributes"
SYSTEM_FILE = Path("/etc/gitattributes")
# What no line below names is decided here, so that no `.gitattributes` of an agent decides it.
DECIDED = "* !text !eol !crlf !ident !filter !working-tree-encoding\n[attr]binary -diff -merge -text\n"
MACRO = "[attr]"
# What our own git is told and the person's filters must not hear.
OURS_ALONE = (
    *("GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_CONFIG_NOSYSTEM"),
    *("GIT_CONFIG_GLOBAL", "GIT_ATTR_NOSYSTEM", "GIT_LITERAL_PATHSPECS", "GIT_NO_REPLACE_OBJECTS", "GIT_PREFIX"),
)
_PERSONS = ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
# What git-lfs has not fetched stays the pointer that the person sees as well: nothing is fetched in mid-loop.
_OFFLINE = (
    ("lfs.standalonetransferagent", "offline"),
    ("lfs.customtransfer.offline.path", "/bin/false"),
    ("lfs.skipdownloaderrors", "true"),
)
_BLANK = " \t\r\n"
_ESCAPE = re.compile(rb'\\(?:([abfnrtv"\\])|([0-3][0-7]{2}))')
_NAMED = dict(zip(b'abfnrtv"\\', b'\a\b\f\n\r\t\v"\\', strict=True))
_SPECIAL = re.compile(r"([\\*?\[!])")


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonsRules:
    """What the person's own git says besides what is committed. The log keeps it as it was when the loop began."""

    settings: tuple[tuple[str, str], ...] = ()
    everywhere: str = ""  # attributes for all of their repositories
    here: str = ""  # attributes for this one, which win over all others

    def change(self, other: PersonsRules) -> str:
        """What the two do not agree on, in words; empty where they agree."""
        ours, theirs = dict(self.settings), dict(other.settings)
        for key in sorted({*ours, *theirs}):
            if ours.get(key) != theirs.get(key):
                return f"`{key}` of your git configuration"
        if self.here != other.here:
            return "`info/attributes` of your git directory"
        return "your attributes file for all repositories" if self.everywhere != other.everywhere else ""


@dataclass(frozen=True, slots=True)
class Pinned:
    """What a loop began with: its files are converted by it to the end. Without it, by what is there now."""

    base: Commit = NO_COMMIT  # whose attributes count
    rules: PersonsRules | None = None


def began_with(base: Commit, rules: str) -> Pinned:
    """How files are converted in a loop: by the attributes of `base`, and by what the log has of the person's git."""
    return Pinned(base, decode(PersonsRules, rules) if rules else None)


def persons_rules(person: Git, common: Path, config: tuple[ConfigEntry, ...] | None = None) -> PersonsRules:
    everything = {entry.key: entry.value for entry in (read_config(person) if config is None else config)}
    found = {key: value for key, value in everything.items() if CONVERSION.fullmatch(key)}
    files = (SYSTEM_FILE, _own_file(person, named="core.attributesfile" in everything))
    return PersonsRules(
        settings=tuple(sorted(found.items())),
        everywhere="\n".join(filter(None, map(_text, files))),
        here=_text(common / "info" / "attributes"),
    )


def _own_file(person: Git, *, named: bool) -> Path:
    if named:
        said = person.run("config", "--type=path", "--get", "core.attributesFile")
        return person.cwd / path_of(said).removesuffix("\n")
    settings = person.env.get("XDG_CONFIG_HOME") or f"{person.env.get('HOME', '')}/.config"
    return Path(settings) / "git" / "attributes"


def _text(file: Path) -> str:
    return readable(file.read_bytes()) if file.is_file() else ""


# --- attributes -------------------------------------------------------------------------------------------------------


def attributes_of(git: Git, commit: str) -> tuple[tuple[str, str], ...]:
    """Every `.gitattributes` of a commit: the folder it is in, and its text; folders before those in them."""
    rows = [row.partition(b"\t") for row in git.run_once((commit,), "ls-tree", "-r", "-z", commit).split(b"\0") if row]
    files = [(path_of(path), meta.split()[2]) for meta, _, path in rows if _is_rule_file(meta, path)]
    found = [(path.rpartition("/")[0], path_of(git.run("cat-file", "blob", readable(blob)))) for path, blob in files]
    return tuple(sorted(found, key=lambda each: (each[0].count("/") + bool(each[0]), each[0])))


def _is_rule_file(meta: bytes, path: bytes) -> bool:
    """A link is not followed, as git does not follow it."""
    return path.rpartition(b"/")[2] == ATTRIBUTES_FILE.encode() and meta.startswith(b"100")


def flattened(rules: PersonsRules, files: Iterable[tuple[str, str]]) -> str:
    """All of it as one file. Later lines win, as nearer files do."""
    inside = [line for folder, text in files for line in _below(folder, text)]
    return "\n".join([DECIDED, *_below("", rules.everywhere), *inside, *_below("", rules.here), ""])


def _below(folder: str, text: str) -> Iterator[str]:
    """The lines of a file as they have to be written above its folder. What git passes over is left out."""
    for raw in text.removeprefix("\ufeff").split("\n"):
        line = raw.strip(_BLANK)
        pattern, rest = _parted(line)
        if not line or line.startswith("#") or pattern.startswith("!") or (folder and pattern.startswith(MACRO)):
            continue
        yield f"{_quoted(_moved(folder, pattern))} {rest}" if folder else line


def _parted(line: str) -> tuple[str, str]:
    """The pattern, which may be written in quotes, and what is said of it."""
    quoted = re.match(r'"((?:[^"\\]|\\.)*)"', line)
    if quoted:
        return _unquoted(quoted[1]), line[quoted.end() :].strip(_BLANK)
    found = re.match(r"[^ \t\r\n]*", line)
    end = found.end() if found else 0
    return line[:end], line[end:].strip(_BLANK)


def _moved(folder: str, pattern: str) -> str:
    """A pattern without a slash holds at any depth below its folder."""
    between = "" if pattern.startswith("/") else "/" if "/" in pattern.rstrip("/") else "/**/"
    return _SPECIAL.sub(r"\\\1", folder) + between + pattern


def _unquoted(text: str) -> str:
    def char(found: re.Match[bytes]) -> bytes:
        return bytes([_NAMED[found[1][0]]]) if found[1] else bytes([int(found[2], 8)])

    return path_of(_ESCAPE.sub(char, name_of(text)))


def _quoted(text: str) -> str:
    """Every byte that means something in a line, or may, by its number."""
    plain = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-*?[]!^@+,:;=~#%&(){}<>|$'`")
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in name_of(text)) + '"'


def filters_named(attributes: str) -> tuple[str, ...]:
    """The filters that some line of the attributes asks for."""
    words = (word for line in attributes.split("\n") for word in line.split()[1:])
    return tuple(sorted({word.removeprefix("filter=") for word in words if word.startswith("filter=")}))


# --- configuration ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterPlace:
    """Where a filter runs: in the person's own folder with their own git directory, as it does for them."""

    folder: Path
    git_dir: Path
    env: Mapping[str, str]

    def wrapped(self, command: str) -> str:
        """A relative program is the person's, never one that lies in a workspace."""
        given: dict[str, object] = {name: self.env[name] for name in _PERSONS if name in self.env}
        given |= {"GIT_DIR": self.git_dir, "GIT_WORK_TREE": self.folder, "GIT_CONFIG_COUNT": len(_OFFLINE)}
        for number, (key, value) in enumerate(_OFFLINE):
            given |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        said = " ".join(f"{name}={shlex.quote(str(value))}" for name, value in given.items())
        hidden = " ".join(OURS_ALONE)
        return f"unset {hidden}; export {said}; cd {shlex.quote(str(self.folder))} && {command}"


def configuration(rules: PersonsRules, place: FilterPlace) -> str:
    """The settings as a part of a git configuration."""
    lines = []
    for key, value in rules.settings:
        section, _, rest = key.partition(".")
        name, _, variable = rest.rpartition(".")
        head = f'[{section} "{_escaped(name)}"]' if name else f"[{section}]"
        lines.append(f'{head}\n\t{variable} = "{_escaped(_as_run(variable, value, place))}"')
    return "\n".join([*lines, ""])


def _as_run(variable: str, value: str, place: FilterPlace) -> str:
    """In `clean` and `smudge` git reads `%f`, so that a `%` of ours has to be doubled."""
    if variable not in ("clean", "smudge", "process") or not value:
        return value
    around = place.wrapped("\0")
    return (around if variable == "process" else around.replace("%", "%%")).replace("\0", value)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
