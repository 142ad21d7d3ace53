"""Honest changes of every class: what is free, what waits, and in which words."""

import shlex

import pytest

from loopwright.kernel.trust import FileClass
from tests.adapters.checks.classes.held import Files, classes
from tests.adapters.checks.classes.test_cheats import CARGO, GO, MAKE, NODE, PYTEST, SRC

X = "anything\n"
APPENDED = f"{SRC['tests/test_calc.py']}\n\ndef test_more():\n    assert calc.add(0, 0) == 0\n"


@pytest.mark.parametrize(
    ("base", "path", "text", "kind"),
    [
        (SRC, "src/calc/__init__.py", X, "product"),
        (SRC, "src/calc/new.py", X, "product"),
        (SRC, "src/calc/json.py", X, "product"),
        (SRC, "src/calc/data/words.txt", X, "product"),
        (SRC, "src/other/__init__.py", X, "product"),
        (SRC, "src/calc/more.py", None, "product"),
        (SRC, "src/calc/py.typed", "", "product"),
        (SRC, "plugins/one.py", X, "product"),
        (SRC, "tests/test_calc.py", APPENDED, "test"),
        (SRC, "tests/test_new.py", X, "test"),
        (SRC, "tests/data/package.json", "{}", "test"),
        (SRC, "tests/fixtures/.hidden", X, "test"),
        (SRC, "tests/fixtures/x/setup.py", X, "test"),
        (SRC, "tests/test_calc.py", None, "test"),
        (SRC, "tests/test_calc.py", X, "test"),
        (SRC, "tests/helpers.py", "def near(a, b):\n    return True\n", "test"),
        (SRC, "README.md", X, "text"),
        (SRC, "docs/conf.py", X, "text"),
        (SRC, "docs/guide/index.rst", X, "text"),
        (SRC, "examples/one.py", X, "text"),
        (SRC, "benchmarks/speed.py", X, "text"),
        (SRC, "LICENSE", X, "text"),
        (SRC, "CHANGES", X, "text"),
        (SRC, "logo.png", X, "text"),
        (SRC, ".gitignore", X, "text"),
        (SRC, ".editorconfig", X, "text"),
        (SRC, "words.dat", X, "judge"),
        (SRC, "notes.txt", X, "judge"),
        (NODE, "lib/new.js", X, "product"),
        (NODE, "index.js", X, "product"),
        (NODE, "lib/path.js", X, "product"),
        (NODE, "test/add.test.js", f"{NODE['test/add.test.js']}test('x', () => {{\n}})\n", "test"),
        (MAKE, "main.c", X, "product"),
        (MAKE, "util.c", X, "product"),
        (CARGO, "src/lib.rs", X, "product"),
        (CARGO, "src/bin/tool.rs", X, "product"),
        (CARGO, "examples/show.rs", X, "text"),
        (GO, "calc.go", X, "product"),
        (GO, "internal/x/x.go", X, "product"),
        (GO, "calc_test.go", f"{GO['calc_test.go']}\nfunc TestB(t *testing.T) {{\n}}\n", "test"),
    ],
)
def test_an_honest_change_has_the_class_a_maintainer_expects(
    base: Files, path: str, text: str | None, kind: str
) -> None:
    commands = {id(SRC): PYTEST, id(NODE): ("npx", "jest"), id(MAKE): ("make", "test")}
    command = commands.get(id(base), ("cargo", "test") if base is CARGO else ("go", "test", "./..."))
    found = classes(base, {path: text}, command)[path]
    assert found.kind == kind
    assert found.is_gated is (kind == "judge")


def test_a_script_whose_output_is_compared_is_what_is_tested() -> None:
    assert classes(MAKE, {"main.sh": X}, ("make", "test"), product=("*.sh", "*.c"))["main.sh"].kind == "product"


def test_a_module_that_only_a_linter_reads_is_product() -> None:
    base = {"calc.py": "x = 1\n", "setup.cfg": "", "test_calc.py": ""}
    found = classes(base, {"calc.py": X}, PYTEST, ("mypy", "calc.py"), ("ruff", "check", "calc.py"))
    assert found["calc.py"].kind == "product"


CASES = {"pkg/a.py": "x = 1\n", "pkg/cases.txt": "1 2\n", "pkg/set.json": "{}", "run.py": X, "run.js": X, "run.sh": X}
CASES |= {"pkg/USAGE.rst": X}


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("python -m pytest -q --cases pkg/cases.txt", "pkg/cases.txt"),
        ("python3 run.py pkg/cases.txt", "pkg/cases.txt"),
        ("python3 run.py --cfg pkg/cases.txt", "pkg/cases.txt"),
        ("node run.js -c pkg/set.json", "pkg/set.json"),
        ("bash run.sh -n pkg/cases.txt", "pkg/cases.txt"),
        ("sh -c 'python3 run.py pkg/cases.txt'", "pkg/cases.txt"),
        ("tester pkg/set.json", "pkg/set.json"),
    ],
)
def test_what_the_command_of_a_check_names_judges(command: str, path: str) -> None:
    found = classes(CASES, {path: "2 3\n"}, tuple(shlex.split(command)), product=("pkg/**",))[path]
    assert (found.kind, found.why) == ("judge by name", "a check names it")


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("python -m pytest --doctest-modules pkg/a.py", "pkg/a.py"),
        ("python -m pytest -q pkg/USAGE.rst", "pkg/USAGE.rst"),
        ("python3 run.py pkg/a.py", "pkg/a.py"),
        ("python3 run.py --with pkg/a.py", "pkg/a.py"),
        ("python -m json.tool pkg/set.json", "pkg/set.json"),
        ("prettier --check pkg/set.json", "pkg/set.json"),
        ("npx prettier --check pkg/set.json", "pkg/set.json"),
        ("grep -q x pkg/cases.txt", "pkg/cases.txt"),
    ],
)
def test_what_it_is_to_test_or_only_looks_at_stays_product(command: str, path: str) -> None:
    assert not classes(CASES, {path: "y = 2\n"}, tuple(command.split()), product=("pkg/**",))[path].is_gated


def test_a_script_that_a_check_runs_does_not_protect_its_folder() -> None:
    base = {**SRC, "tools/verify.py": X, "tools/__init__.py": "", "tools/release.py": X}
    changed = {"tools/release.py": "1\n", "tools/verify.py": "1\n"}
    found = classes(base, changed, ("python", "tools/verify.py"), product=("src/**", "tools/**"))
    assert [each.kind for each in found.values()] == ["product", "judge by name"]


@pytest.mark.parametrize(
    ("path", "is_protected"),
    [
        ("tests/fixtures/pyproject.toml", False),
        ("tests/sample/Makefile", False),
        ("tests/fixtures/conftest.py", True),
        ("tests/pyproject.toml", True),
        ("tests/deep/package.json", True),
    ],
)
def test_below_tests_only_what_may_steer_a_run_is_protected(path: str, *, is_protected: bool) -> None:
    base = {**SRC, path: X, "tests/deep/unit/test_more.py": X}
    found = classes(base, {path: "other\n"}, PYTEST)[path]
    assert (found.kind is FileClass.JUDGE_BY_NAME) is is_protected


def test_below_tests_a_folder_that_no_test_was_collected_from_steers_no_run() -> None:
    path = "tests/sample/setup.cfg"
    base = {**SRC, path: X, "tests/sample/test_sample.py": X}
    found = classes(base, {path: "other\n"}, PYTEST, yielding=frozenset({"tests/test_calc.py"}))[path]
    assert found.kind is not FileClass.JUDGE_BY_NAME


def test_a_test_file_that_a_runner_is_given_stays_a_test() -> None:
    found = classes(SRC, {"tests/test_calc.py": APPENDED}, ("pytest", "-q", "tests/test_calc.py"))
    assert found["tests/test_calc.py"].kind == "test"


def test_what_is_protected_is_a_judge_whatever_else_it_is() -> None:
    found = classes(SRC, {"src/calc/more.py": X}, PYTEST, protected=("src/calc/more.py",))["src/calc/more.py"]
    assert (found.kind, found.why) == ("judge by name", "matches `protected`")


def test_tests_that_stand_among_what_is_protected_are_tests() -> None:
    changed = {"tests/test_new.py": X, "tests/helpers.py": X, ".github/x.md": X}
    found = classes(SRC, changed, PYTEST, protected=("tests/**", "loop.toml", ".github/**"))
    assert [each.kind for each in found.values()] == ["judge by name", "test", "test"]


def test_an_artifact_under_review_is_product_unless_it_is_a_test_or_its_name_judges() -> None:
    changed = {"tests/helpers.py": X, "notes/a.dat": X, "tests/conftest.py": X}
    found = classes(SRC, changed, PYTEST, artifacts=("tests/helpers.py", "notes", "tests/conftest.py"))
    assert {path: str(each.kind) for path, each in found.items()} == {
        "tests/helpers.py": "test",
        "notes/a.dat": "product",
        "tests/conftest.py": "judge by name",
    }


LOOSE = SRC["tests/test_calc.py"].replace("== 3", "== -1")


@pytest.mark.parametrize("folders", [("tests/", "notes/", "src/calc/"), ("tests", "notes", "src/calc")])
def test_a_folder_under_review_is_product_but_for_its_tests(folders: tuple[str, ...]) -> None:
    changed = {"tests/test_calc.py": LOOSE, "tests/test_more.py": X, "notes/a.dat": X, "notes/test_it.py": X}
    found = classes(SRC, {**changed, "src/calc/new.py": X, "notes/conftest.py": X}, PYTEST, artifacts=folders)
    assert {path: (str(each.kind), each.spared) for path, each in found.items()} == {
        "tests/test_calc.py": ("test", False),
        "tests/test_more.py": ("test", False),
        "notes/a.dat": ("product", False),
        "notes/test_it.py": ("test", False),
        "notes/conftest.py": ("judge by name", False),
        "src/calc/new.py": ("product", False),
    }


def test_a_test_that_is_itself_under_review_follows_the_rules_of_tests() -> None:
    named = ("tests/", "tests/test_calc.py", "src/calc/__init__.py")
    changed = {"tests/test_calc.py": LOOSE, "src/calc/__init__.py": X}
    found = classes(SRC, changed, PYTEST, artifacts=named)
    assert {path: (str(each.kind), each.is_judged, each.is_gated) for path, each in found.items()} == {
        "tests/test_calc.py": ("test", False, False),
        "src/calc/__init__.py": ("product", True, False),
    }


def test_what_tests_judge_with_is_product_where_it_is_itself_under_review_and_nobody_breaks_it() -> None:
    test = "from calc.testing import same\n\n\ndef test_add():\n    same(1, 1)\n"
    base = {**SRC, "src/calc/testing.py": "def same(a, b):\n    assert a == b\n", "tests/test_same.py": test}
    for named, said in (("src/calc/testing.py", ("product", True)), ("src/calc/", ("test", False))):
        (found,) = classes(base, {"src/calc/testing.py": "def same(a, b): ...\n"}, PYTEST, artifacts=(named,)).values()
        assert (str(found.kind), found.spared) == said


@pytest.mark.parametrize("named", [("calc.py", "src/lib.rs"), ("src/",), ()], ids=["itself", "by a folder", "not"])
def test_tests_inside_what_is_under_review_are_put_back_as_elsewhere(named: tuple[str, ...]) -> None:
    python = 'def add(a, b):\n    """Adds.\n\n    >>> add(2, 3)\n    5\n    """\n    return a {} b\n'
    rust = "pub fn add() {{ {} }}\n\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn a() {{ {} }}\n}}\n"
    base = {"calc.py": python.format("+"), "src/lib.rs": rust.format("1", "two()")}
    changed = {"calc.py": python.format("-").replace("    5\n", "    -1\n"), "src/lib.rs": rust.format("2", "one()")}
    found = classes(base, changed, (*PYTEST, "--doctest-modules"), artifacts=named)
    assert {path: (str(each.kind), each.judged, each.spared) for path, each in found.items()} == {
        "calc.py": ("product", python.format("-").encode(), False),
        "src/lib.rs": ("product", rust.format("2", "two()").encode(), False),
    }


def test_a_word_beforehand_opens_changed_tests_and_no_judge_by_name() -> None:
    changed = {"tests/helpers.py": X, "tests/conftest.py": X, "tests/test_new.py": X, "odd.dat": X}
    found = classes(SRC, changed, PYTEST, allow=("tests/**", "odd.dat"))
    assert {path: (each.allowed, each.is_judged, each.is_gated) for path, each in found.items()} == {
        "tests/helpers.py": (True, True, False),
        "tests/conftest.py": (False, False, True),
        "tests/test_new.py": (False, False, False),
        "odd.dat": (True, True, False),
    }


@pytest.mark.parametrize(
    ("changed", "put_back"),
    [
        ({"Cargo.lock": X, "src/lib.rs": X}, True),
        ({"Cargo.lock": X, "Cargo.toml": X}, False),
        ({"Cargo.lock": X, "crates/a/Cargo.toml": X}, False),
        ({"Cargo.lock": X, "package.json": X}, True),
        ({"Cargo.lock": X}, False),
        ({"Cargo.lock": X, "other.lock": X}, False),
    ],
)
def test_a_lock_without_its_manifest_is_put_back_unless_it_is_all(changed: Files, *, put_back: bool) -> None:
    found = classes(CARGO, changed, ("cargo", "test"))["Cargo.lock"]
    assert (found.put_back, found.is_gated, found.is_manifest) == (put_back, not put_back, not put_back)
    assert not found.is_judged


def test_a_manifest_decides_what_is_installed_and_a_makefile_does_not() -> None:
    found = classes(SRC, {"pyproject.toml": X, "Makefile": X, "src/calc/more.py": X}, PYTEST)
    assert [each.is_manifest for each in found.values()] == [False, True, False]


def test_a_move_is_a_removal_and_an_addition_shown_as_a_move() -> None:
    base = {**SRC, "tests/one.py": "same = 1\n", "tests/two.py": "same = 1\n", "tests/empty.py": ""}
    gone = dict.fromkeys(("src/calc/more.py", "tests/one.py", "tests/two.py", "tests/empty.py"))
    come = {"src/calc/moved.py": SRC["src/calc/more.py"], "tests/a/two.py": "same = 1\n", "src/calc/none.py": ""}
    found = classes(base, {**gone, **come}, PYTEST)
    assert {path: each.change.moved for path, each in found.items() if each.change.moved} == {
        "src/calc/more.py": "src/calc/moved.py",
        "src/calc/moved.py": "src/calc/more.py",
        "tests/two.py": "tests/a/two.py",
        "tests/a/two.py": "tests/two.py",
    }


DOCTESTED = {**SRC, "README.md": ">>> 1\n1\n", "tox.ini": "[pytest]\naddopts = --doctest-glob='*.md'\n"}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Prose.\n\n>>> 1\n1\n", "text"),
        (">>> 1\n1\n>>> 2\n2\n", "test"),
        (">>> 1\n2\n", "test"),
        (None, "test"),
    ],
)
def test_a_text_whose_examples_are_collected_is_a_test(text: str | None, kind: str) -> None:
    assert classes(DOCTESTED, {"README.md": text}, PYTEST)["README.md"].kind == kind
    assert classes({**SRC, "README.md": ">>> 1\n1\n"}, {"README.md": text}, PYTEST)["README.md"].kind == "text"
    by_id = classes({**SRC, "README.md": ">>> 1\n1\n"}, {"README.md": text}, PYTEST, yielding=frozenset({"README.md"}))
    assert by_id["README.md"].kind == kind


@pytest.mark.parametrize("name", ["scripts", "checks", "test"])
def test_a_new_folder_whose_name_something_knows_is_no_product(name: str) -> None:
    base = {**MAKE, "Makefile": "test:\n\tfor f in checks/*; do $$f; done\n\tls scripts/\n"}
    assert not classes(base, {f"{name}/x.c": X}, ("make", "test"))[f"{name}/x.c"].is_judged


@pytest.mark.parametrize("path", [".gitignore", "src/calc/.gitignore"])
def test_what_is_ignored_is_judged_as_the_base_ignores_it(path: str) -> None:
    changed = classes({**SRC, path: "build/\n"}, {path: "build/\nsrc/\n"}, PYTEST)[path]
    assert (changed.judged, changed.is_gated) == (b"build/\n", False)
    assert classes(SRC, {path: "src/\n"}, PYTEST)[path].judged == b""
    assert classes({**SRC, path: "build/\n"}, {path: None}, PYTEST)[path].judged is None
    assert classes(SRC, {"README.md": X}, PYTEST)["README.md"].judged is None


@pytest.mark.parametrize(
    ("said", "path", "kind"),
    [
        ("V := $(shell cat src/V*)", "src/VERSION", "judge by name"),
        ("V := $(shell cat src/VERSION)", "src/VERSION", "judge by name"),
        ("V != head -1 < src/VERSION", "src/VERSION", "judge by name"),
        ("V := $(shell cat src/V*)", "src/VERSION.new", "judge by name"),
        ("V := $(shell ls src/V*)", "src/VERSION", "product"),
        ("V := $(shell cat src/*.c | wc -l)", "src/calc.c", "product"),
    ],
)
def test_what_a_makefile_takes_for_a_value_may_become_a_command(said: str, path: str, kind: str) -> None:
    base = {"Makefile": f"{said}\n\ntest:\n\t@echo $(V)\n", "src/calc.c": X, "src/VERSION": "1\n", "tests/a.c": X}
    assert classes(base, {path: "2; true\n"}, ("make", "test"))[path].kind == kind


def test_nothing_changed_is_no_class() -> None:
    assert classes(SRC, {}, PYTEST) == {}


def test_a_test_of_another_mode_is_held_back() -> None:
    run = classes(SRC, {}, PYTEST, modes={"tests/helpers.py": "100755"})["tests/helpers.py"]
    assert (run.kind, run.why) == (FileClass.CHANGED_TEST, "its mode was changed")


@pytest.mark.parametrize("texts", [("x" * 600_000, "y"), ("\0", "\0\0")], ids=["large", "binary"])
def test_data_of_tests_follows_the_rules_of_tests(texts: tuple[str, str]) -> None:
    before, after = texts
    found = classes({**SRC, "tests/data.bin": before}, {"tests/data.bin": after}, PYTEST)["tests/data.bin"]
    assert (found.kind, found.is_judged, found.is_gated) == (FileClass.TEST, False, False)
