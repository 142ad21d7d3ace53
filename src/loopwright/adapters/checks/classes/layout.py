"""What is product and what are tests here, from a listing of tracked files: by exclusion, not by a list of folders."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from posixpath import splitext

from loopwright.kernel.gates import matches
from loopwright.kernel.judges import is_example, is_source, is_text, judge_by_name

# Names that a runner collects by itself, by the suffixes of the language.
_NAMED_TESTS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    ((".py",), ("**/test_*.py", "**/*_test.py", "**/tests.py")),
    (
        (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte"),
        (
            *("**/*.{test,spec}.{js,jsx,ts,tsx,mjs,cjs,mts,cts}", "**/__tests__/**", "**/__snapshots__/**"),
            *("**/{test,test-*,*-test,*_test}.{js,mjs,cjs,ts,mts,cts}", "**/*.snap", "tap-snapshots/**"),
        ),
    ),
    ((".go",), ("**/*_test.go", "**/testdata/**")),
    ((".rs",), ("**/tests.rs", "**/snapshots/*.snap")),
    (
        (".java", ".kt", ".scala", ".groovy"),
        ("**/src/{test,*Test}/**", "**/*{Test,Tests,IT,Spec}.{java,kt,scala,groovy}"),
    ),
    ((".rb",), ("**/*_{spec,test}.rb", "**/test_*.rb")),
    ((".php",), ("**/*Test.php",)),
    ((".cs", ".fs"), ("**/*{.Tests,Tests,Test}/**", "**/*{Test,Tests}.{cs,fs}")),
    ((".swift",), ("Tests/**", "**/*Tests.swift")),
    ((".ex", ".exs"), ("**/*_test.exs",)),
    ((".dart",), ("**/*_test.dart",)),
    (
        (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"),
        (
            "**/{test,tests,test_*,test-*,tst_*,*_test,*_tests,*-test,*-tests,*_unittest,*_unittests}.{c,cc,cpp,cxx,h,hpp}",
            "**/*{Test,Tests}.{c,cc,cpp,cxx,h,hpp}",
        ),
    ),
    ((".sh", ".bash", ".bats"), ("**/*.bats", "**/{test_*,*_test,test}.{sh,bash}")),
    ((".pl", ".pm", ".t"), ("**/*.t", "t/**")),
    (
        (".feature",),
        ("**/*.feature", "**/features/**/{steps,step_definitions,support}/**", "**/features/environment.py"),
    ),
    ((".robot",), ("**/*.robot", "**/*.resource")),
)
FOLDERS = (
    "tests",
    "test",
    "__tests__",
    "spec",
    "specs",
    "e2e",
    "integration_tests",
    "unittest",
    "unittests",
    "unit_tests",
    "testsuite",
    "testsuites",
)
_FOLDERS_IN_C = ("check", "checks", "t")  # at the top, where nothing but C and its kin lies
_ALWAYS = ("tests", "test", "__tests__")  # a folder of this name at the top holds tests, whatever is in it
_ALWAYS_ENDING = ("_tests", "-tests")  # as does `typing_tests`, which only a type checker reads
_LOOSE = re.compile(r"(?:^|[._-])(?:tests?|spec|unittest)(?:[._-]|$)", re.IGNORECASE)
_ANY_NAME = (  # collected by their folder
    *(".js", ".ts", ".mjs", ".cjs", ".jsx", ".tsx", ".rs", ".rb", ".exs", ".php"),
    *(".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"),
)
_C = (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp")
_NAMED_FOR = re.compile(r"tests?[-_]?(\w+)|(\w+?)[-_]?tests?", re.IGNORECASE)
_SHELL = (".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat", ".awk")
_SCRIPTS = frozenset({"scripts", "tools"})  # beside the product, unless they hold a package or tests
_BUILT = (".go", ".rs", ".java", ".kt", ".scala", ".c", ".cc", ".cpp", ".cs", ".swift", ".zig", ".hs", ".ml")
_LOOK = 3  # of these at least, before a folder of documentation passes for a package


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Patterns. What matches neither is text or a judge."""

    product: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()

    def is_product(self, path: str) -> bool:
        return any(matches(path, pattern) for pattern in self.product)

    def is_test(self, path: str) -> bool:
        return any(matches(path, pattern) for pattern in self.tests)

    def is_judged(self, path: str) -> bool:
        """Whether it is product and nothing else."""
        return self.is_product(path) and not self.is_test(path) and judge_by_name(path) is None

    def is_protected(self, path: str) -> bool:
        return any(matches(path, pattern) for pattern in self.protected)


def detected(paths: Iterable[str]) -> Layout:
    """What this repository has. Names that a runner collects are tests even before there is one."""
    return _detected(tuple(paths))


@lru_cache(maxsize=4)  # the base of a loop is asked again for every candidate
def _detected(files: tuple[str, ...]) -> Layout:
    named = (path for path in files if "/" in path and not path.endswith(_SHELL) and collected_by_name(path))
    tested = frozenset(path.split("/")[0] for path in named)
    loose = _folders_beside_src(files)
    tests = tuple(dict.fromkeys((*_tests(files), *(f"{folder}/**" for folder in sorted(loose & tested)))))
    found = Layout(tests=tests)
    rest = [path for path in files if judge_by_name(path) is None and not found.is_test(path)]
    return Layout(product=_product(rest, loose | (_SCRIPTS - tested)), tests=tests)


def completed(given: Layout, paths: Iterable[str]) -> Layout:
    """What a person wrote, and what is detected where they wrote nothing.

    Before there was a key for tests, they stood among what is protected: patterns that match nothing else are theirs.
    """
    if given.tests and given.product:
        return given
    files = tuple(paths)
    found = detected(files)
    if given.tests:
        return replace(given, product=found.product)
    theirs = tuple(pattern for pattern in given.protected if _is_of_tests(pattern, files, found))
    return Layout(
        product=given.product or found.product,
        tests=tuple(dict.fromkeys((*theirs, *found.tests))),
        protected=tuple(pattern for pattern in given.protected if pattern not in theirs),
    )


def _is_of_tests(pattern: str, files: tuple[str, ...], found: Layout) -> bool:
    held = [path for path in files if matches(path, pattern) and judge_by_name(path) is None]
    if not held:
        return any(matches(f"{folder}/test_x.py", pattern) for folder in _ALWAYS) and not matches("x/y.md", pattern)
    return all(found.is_test(path) for path in held)


def collected_by_name(path: str) -> bool:
    """Whether a runner takes a file of this name for a test, wherever it lies."""
    suffix = splitext(path)[1]
    return any(matches(path, p) for suffixes, patterns in _NAMED_TESTS if suffix in suffixes for p in patterns)


def _tests(files: tuple[str, ...]) -> tuple[str, ...]:
    suffixes = {splitext(path)[1] for path in files}
    named = [p for wanted, patterns in _NAMED_TESTS if suffixes.intersection(wanted) for p in patterns]
    top = {path.split("/")[0] for path in files if "/" in path}
    folders = [f"{name}/**" for name in sorted(top) if name.lower() in _ALWAYS or name.lower().endswith(_ALWAYS_ENDING)]
    nested = sorted({pattern for path in files for pattern in _folders_of_tests(path)})
    return tuple(dict.fromkeys((*folders, *nested, *named, *_tests_in_c(files), *_steps(files))))


def _steps(files: tuple[str, ...]) -> Iterable[str]:
    """What stands beside features and says what their sentences mean."""
    folders = {path.rpartition("/")[0] for path in files if path.endswith(".feature")} - {""}
    for folder in sorted(folders):
        yield from (f"{folder}/{name}/**" for name in ("steps", "step_definitions", "support"))
        yield f"{folder}/environment.py"
    for folder in sorted({path.rpartition("/")[0] for path in files if path.endswith(".robot")} - {""}):
        yield from (f"{folder}/*.py", f"{folder}/{{keywords,libraries,resources}}/**")


def _tests_in_c(files: tuple[str, ...]) -> Iterable[str]:
    """A folder of this name where nothing but C lies; `calctest.c` where there is a `calc.c`, and no `latest.c`."""
    sources = [path for path in files if path.endswith(_C)]
    for folder in _FOLDERS_IN_C:
        held = [path for path in files if path.startswith(f"{folder}/") and is_source(path)]
        if held and all(path.endswith(_C) for path in held):
            yield f"{folder}/**"
    stems = {splitext(path.rpartition("/")[2])[0] for path in sources}
    for path in sources:
        found = _NAMED_FOR.fullmatch(splitext(path.rpartition("/")[2])[0])
        if found and (found[1] or found[2]) in stems:
            yield re.sub(r"[*?{\[]", "?", path)


def _folders_of_tests(path: str) -> Iterable[str]:
    """Folders that are named for tests, and hold files that a runner would take for some."""
    *folders, name = path.split("/")
    stem, suffix = splitext(name)
    if (
        any(part.lower() in FOLDERS for part in folders)
        and is_source(path)
        and (suffix in _ANY_NAME or _LOOSE.search(stem))
    ):
        for depth, part in enumerate(folders):
            if part.lower() in FOLDERS and not is_text(path):
                yield f"**/{part}/**" if depth else f"{part}/**"
                return


def _product(rest: list[str], aside: frozenset[str]) -> tuple[str, ...]:
    """Every folder with sources; examples, documentation and scripts only where there is nothing else."""
    sources = [path for path in rest if is_source(path)]
    packages = _packages_among_texts(rest)
    plain = [p for p in sources if not is_example(p) and (not is_text(p) or p.split("/")[0] in packages)]
    main = [path for path in plain if path.split("/")[0] not in aside or f"{path.split('/')[0]}/__init__.py" in sources]
    chosen = main or plain or [path for path in sources if not is_text(path)]
    folders = sorted({path.split("/")[0] for path in chosen if "/" in path})
    at_top = {splitext(path)[1] for path in chosen if "/" not in path}
    other = any(splitext(path)[1] not in _SHELL for path in chosen)
    suffixes = sorted(suffix for suffix in at_top if not (other and suffix in _SHELL))
    return (*(f"{folder}/**" for folder in folders), *(f"*{suffix}" for suffix in suffixes))


def _folders_beside_src(files: tuple[str, ...]) -> frozenset[str]:
    """Return the folders of Python files without a package, beside a package in `src`: scripts, and tests."""
    packages = {path.split("/")[0] for path in files if path.endswith("/__init__.py")}
    held: defaultdict[str, set[str]] = defaultdict(set)
    for path in filter(is_source, files):
        if "/" in path and not (is_text(path) or is_example(path)):
            held[path.split("/")[0]].add(splitext(path)[1])
    loose = (folder for folder, suffixes in held.items() if suffixes <= {".py", *_SHELL})
    return frozenset(loose) - packages if "src" in packages else frozenset()


def _packages_among_texts(rest: list[str]) -> frozenset[str]:
    """Folders such as `doc` that hold a package and no documentation."""
    held: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for path in rest:
        if "/" in path:
            held[path.split("/")[0]][splitext(path)[1]] += 1
    return frozenset(
        folder
        for folder, counts in held.items()
        if (built := sum(counts[suffix] for suffix in _BUILT)) >= _LOOK and 2 * built > counts.total()
    )
