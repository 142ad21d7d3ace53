"""New files that a shell, make or a compiler finds before what checks mean: a program, a header, a source."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from loopwright.adapters.checks.checkouts import TreeReader
from loopwright.adapters.checks.classes.called_files import Called
from loopwright.adapters.checks.classes.command_lines import WORKED_OUT, Command, joined
from loopwright.adapters.checks.classes.layout import Layout
from loopwright.adapters.checks.classes.makefiles import with_values
from loopwright.kernel.model import Change, Commit

_LARGEST, _MOST = 512 * 1024, 3000  # bytes of a file, and files, that are looked into
_VARIABLE = r"""(?<![\w-])(?:{names})["']?\]?[ \t]*[:+?]?=[ \t]*["']?([^\s"';&|]+)"""
_PATH = re.compile(_VARIABLE.format(names="PATH"))
_HEADERS_BY_VARIABLE = re.compile(_VARIABLE.format(names="CPATH|(?:C|CPLUS|OBJC)_INCLUDE_PATH"))
_ASSIGNED = r"""^\s*(?:export\s+)?{name}\s*[:?]?=\s*["']?([^\s"';]+)"""
_TOP = re.compile(r"\$[({]?(?:PWD|CURDIR|pwd|_)(?!\w)[)}]?")
_VPATH = re.compile(r"^\s*(?:VPATH\s*[:+?]?=|vpath\s+\S+)[ \t]*([^\n#]*)", re.MULTILINE)
_HEADERS_IN = re.compile(
    r"""(?<![\w-])-(?:(?:I|iquote|isystem)[ \t]*|-include-directory(?:=|[ \t]+))["']?([^\s"'`;|&,)]+)"""
)
_MODULES_BY_VARIABLE = re.compile(_VARIABLE.format(names="NODE_PATH"))
_MODULES_IN = re.compile(
    r"""["']?\b(?:modulePaths|moduleDirectories|modules|baseUrl)["']?\s*[:=]\s*(\[[^\]]*\]|["'][^"'\n]*["'])
      | ["']\*["']\s*:\s*(\[[^\]]*\]) | --module(?:Paths|Directories)[= ]+(\S+)
    """,
    re.VERBOSE,
)
_SCRIPTS = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".json")
_OF_CMAKE = re.compile(r"\binclude_directories\s*\(([^)]*)\)", re.IGNORECASE)
_MAKES = frozenset({"make", "gmake", "bmake"})
# What make knows how to make out of it without being told, but for what is compiled.
_MADE = ((".y", ".c"), (".l", ".c"), (".w", ".c"), (".ym", ".m"), (".lm", ".m"), (".web", ".p"), (".r", ".f"))
_IN_C = (".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx")
_INCLUDED = re.compile(r"""^[ \t]*\#[ \t]*include[ \t]*(["<])([^">\n]+)[">]""", re.MULTILINE)
# Programs that checks use without a thought, also where no script of the repository names them.
_PROGRAMS = frozenset(
    re.findall(
        r"\S+",
        """
    [ ar as ash ava awk basename bash bats bun bundle c++ c8 cargo cat cc chmod clang clang++ cmake cmp comm
    composer coverage cp cpp ctest curl cut dash date deno diff diff3 dirname docker dotnet echo egrep env
    eslint expr false fgrep find fish g++ gawk gcc git gmake go gofmt gradle grep gsed head id java javac jest
    join jq kill ksh ld ln ls make md5sum meson mkdir mktemp mocha mv mvn mypy ninja nm node nodejs nox nproc
    npm npx nyc objdump paste patch pgrep php phpunit pnpm poetry printf prove pwd py.test pytest rake readlink
    realpath rm rspec ruff rustc rustup sdiff sed seq sh sha1sum sha256sum shellcheck sleep sort stat strip tail
    tap tape tar tee test time timeout touch tox tr true ts-node tsc tsx uname uniq uv uvx valgrind vitest wc
    wget which xargs yarn yes yq zgrep zsh
        """,
    )
)
_INTERPRETER = re.compile(r"(?:python|pypy|pip|ruby|perl|php|lua|node|gcc|g\+\+|clang)-?[\d.]*")
_STANDARD = frozenset(
    f"{name}.h"
    for name in re.findall(
        r"\S+",
        """
    alloca assert complex ctype endian errno fcntl features fenv float inttypes iso646 limits locale malloc math
    pthread sched setjmp signal stdalign stdarg stdatomic stdbool stdc-predef stddef stdint stdio stdlib
    stdnoreturn string strings tgmath threads time uchar unistd wchar wctype
        """,
    )
)
# Honest headers have such names, too: it counts whether anybody asks for one that is not there.
_PERHAPS = re.compile(
    r"""(?:sys|bits|gnu|asm|linux|arpa|net|netinet|gtest|gmock|criterion|catch2|CUnit|cppunit|doctest)/.+
      | (?:check|cmocka|unity|greatest|munit|minunit|utest|acutest|doctest|tap|catch\w*|err|error|regex|poll|getopt
        |dirent|glob|memory|wait|pwd|grp|termios|semaphore|libgen|netdb)\.h(?:pp)?
      | [a-z_]{3,20}  # of C++
    """,
    re.VERBOSE,
)
_OF_RUNNERS = re.compile(r"(?:minitest|rspec|test/unit|test-unit)(?:/.*)?(?:\.rb)?|(?:Test|Test2|TAP)/.+\.pm")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPaths:
    """Folders of the repository in which checks look for what they use, in their order, by what steers the checks."""

    programs: tuple[str, ...]
    sources: tuple[str, ...]
    headers: tuple[str, ...]
    modules: tuple[str, ...]  # of JavaScript
    said: str  # all of what steers

    @staticmethod
    def of(commands: Iterable[Command], texts: Mapping[str, str]) -> SearchPaths:
        said = [("", " ".join(command)) for command in commands]
        said += ((posixpath.dirname(path), text.replace("\\\n", " ")) for path, text in texts.items())
        return SearchPaths(
            programs=_folders((at, word) for at, text in said for word in _on_path(text)),
            sources=_folders((at, word) for at, text in said for word in _words_of(_VPATH, text)),
            headers=_folders((at, word) for at, text in said for word in _included_from(text)),
            modules=_folders((at, word) for at, text in said for word in _modules_from(text)),
            said="\n".join(text for _, text in said),
        )

    def program_at(self, path: str, tracked: frozenset[str], *, is_new: bool) -> str:
        """The program that the checks mean, and would have this instead."""
        folder, name = posixpath.split(path)
        if folder not in self.programs:
            return ""
        if _is_program(name):
            return name
        named = rf"(?<![\w./-]){re.escape(name)}(?![\w./-])"
        others = (posixpath.join(other, name) for other in self.programs if other != folder)
        is_meant = re.search(named, self.said) or any(other in tracked for other in others)
        return name if is_new and is_meant else ""

    def source_behind(self, path: str, tracked: frozenset[str]) -> str:
        return next((held for _, held in _beside(path, self.sources) if held in tracked), "")

    def header_behind(self, path: str, tracked: frozenset[str], includes: Mapping[str, str]) -> str:
        """What others get where they include it: a header of the system, or one of another folder."""
        for name, held in _beside(path, (*self.headers, "/")):
            if name in _STANDARD or _OF_RUNNERS.fullmatch(name):
                return name
            if (held in tracked or _PERHAPS.fullmatch(name)) and _is_asked_for(name, includes):
                return held if held in tracked else name
        return ""

    def module_at(self, path: str, tracked: frozenset[str]) -> str:
        """The bare name by which a new script would be found, if nothing was found there before."""
        for folder in self.modules if path.endswith(_SCRIPTS) else ():
            if folder and path.startswith(f"{folder}/"):
                name = posixpath.splitext(path[len(folder) + 1 :])[0].removesuffix("/index")
                held = (f"{folder}/{name}{way}{end}" for way in ("", "/index") for end in _SCRIPTS)
                return name if tracked.isdisjoint(held) else ""
        return ""

    def may_hide_header(self, path: str, tracked: frozenset[str]) -> bool:
        return any(held in tracked or _PERHAPS.fullmatch(name) for name, held in _beside(path, (*self.headers, "/")))


def _is_program(name: str) -> bool:
    return name in _PROGRAMS or _INTERPRETER.fullmatch(name) is not None


def _on_path(text: str, variable: re.Pattern[str] = _PATH) -> Iterator[str]:
    """Folders that are put in front; what stands after the usual ones hides nothing."""
    plain = text.replace("$$", "$").replace("{:}", ":")
    plain = re.sub(r"\{(?:toxinidir|tox_root|rootdir)\}", "$PWD", plain)
    plain = re.sub(r"\$\((?:pwd|CURDIR)\)", "$PWD", plain)
    for value in variable.findall(WORKED_OUT.sub("$_", plain)):
        for part in value.split(":"):
            if re.search(r"\bPATH\b", part):
                break
            other = re.fullmatch(r"\$[({]?(\w+)[)}]?", part)
            if other is None or _TOP.fullmatch(part):
                yield _TOP.sub(".", part)
            else:
                yield from re.findall(_ASSIGNED.format(name=other[1]), WORKED_OUT.sub("$_", plain), re.MULTILINE)


def _words_of(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    for value in pattern.findall(with_values(text)) if pattern.search(text) else ():
        yield from re.split(r"[:\s]+", value.strip())


def _included_from(text: str) -> Iterator[str]:
    if "-I" in text or "-iquote" in text or "-isystem" in text or "-include-directory" in text:
        yield from _HEADERS_IN.findall(with_values(text))
    yield from _on_path(text, _HEADERS_BY_VARIABLE)
    for value in _OF_CMAKE.findall(text):
        yield from (
            word for word in value.split() if word not in ("PUBLIC", "PRIVATE", "INTERFACE", "SYSTEM", "BEFORE")
        )


def _modules_from(text: str) -> Iterator[str]:
    yield from _on_path(text, _MODULES_BY_VARIABLE)
    for found in _MODULES_IN.findall(text):
        words = re.split(r"""[\s"'`\[\],:]+""", "".join(found))
        yield from (word.removeprefix("<rootDir>/").removesuffix("/*") for word in words)


def _is_required(name: str, text: str) -> bool:
    wanted = rf"""(?:from|import|require|mock|\w*[aA]ctual)\b[\s(]*['"`]{re.escape(name)}(?:\.[cm]?[jt]sx?)?['"`]"""
    return re.search(wanted, text) is not None


def _folders(words: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Where a script lies, or at the top: nobody knows where it works."""
    plain = ((at, word) for at, word in words if word and not word.startswith(("/", "~")))
    return tuple(dict.fromkeys(joined(place, word) for at, word in plain for place in (at, "")))


def _beside(path: str, folders: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The name by which it is found in one of the folders, and the paths it would have in those that come after."""
    for place, folder in enumerate(folders):
        if not folder or path.startswith(f"{folder}/"):
            name = path[len(folder) + 1 :] if folder else path
            yield from ((name, posixpath.join(other, name)) for other in folders[place + 1 :])


def _is_asked_for(name: str, includes: Mapping[str, str]) -> bool:
    """Whether anybody includes it who has none of this name beside itself, where it would be looked for first."""
    for path, text in includes.items():
        beside = posixpath.join(posixpath.dirname(path), name)
        if any(word == name and (how == "<" or beside not in includes) for how, word in _INCLUDED.findall(text)):
            return True
    return False


def _made_out_of(path: str, deeper: int = 1) -> Iterator[str]:
    """What make would write anew from the file, by rules that it has built in."""
    folder, name = posixpath.split(path)
    places = (folder, posixpath.dirname(folder)) if posixpath.basename(folder) in ("RCS", "SCCS") else (folder,)
    found = [name.removesuffix(end) for end in (".sh", ",v") if name.endswith(end)]
    found += [name.removeprefix("s.")] if name.startswith("s.") else []
    found += [name.removesuffix(end) + made for end, made in _MADE if name.endswith(end)]
    for each in (posixpath.join(place, made) for made in found for place in places):
        yield each
        yield from _made_out_of(each, deeper - 1) if deeper else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFirst:
    """In the base."""

    source: TreeReader
    base: Commit
    layout: Layout
    called: Called

    async def found(
        self, changes: tuple[Change, ...], commands: Iterable[Command], texts: Mapping[str, str]
    ) -> dict[str, str]:
        """New files with what the checks would no longer find. Code is read only where a header could be hidden."""
        doubtful = (c for c in changes if c.how == "added" or _is_program(posixpath.basename(c.path)))
        ours = [change for change in doubtful if not self.layout.is_test(change.path)]
        if not ours:
            return {}
        tracked = frozenset(await self.source.paths(self.base))
        search = SearchPaths.of(commands, texts)
        may_hide = any(c.how == "added" and search.may_hide_header(c.path, tracked) for c in ours)
        code = tuple(path for path in sorted(tracked) if path.endswith(_IN_C))[:_MOST] if may_hide else ()
        includes = await self.source.texts(self.base, code, limit=_LARGEST)
        told = await self._modules(ours, search, tracked)
        for change in ours:
            path, is_new = change.path, change.how == "added"
            if held := search.program_at(path, tracked, is_new=is_new):
                told[path] = f"would be run where checks mean {held}"
            elif not is_new:
                continue
            elif held := search.header_behind(path, tracked, includes) or search.source_behind(path, tracked):
                told[path] = f"would be found in front of {held}"
            elif held := self._remade(path, tracked):
                told[path] = f"make would write {held} out of it"
        return told

    async def _modules(self, ours: list[Change], search: SearchPaths, tracked: frozenset[str]) -> dict[str, str]:
        """New scripts by whose name another one is found now: of another folder, or installed."""
        names = {c.path: name for c in ours if c.how == "added" and (name := search.module_at(c.path, tracked))}
        code = tuple(path for path in sorted(tracked) if path.endswith(_SCRIPTS[:-1]))[:_MOST] if names else ()
        texts = await self.source.texts(self.base, code, limit=_LARGEST)
        said = "\n".join(texts.values())
        return {path: f"would be found in front of {name}" for path, name in names.items() if _is_required(name, said)}

    def _remade(self, path: str, tracked: frozenset[str]) -> str:
        if not any(posixpath.basename(words[0]) in _MAKES for _, words in self.called.ran):
            return ""
        return next((made for made in _made_out_of(path) if made in tracked or self.called.why(made)), "")
