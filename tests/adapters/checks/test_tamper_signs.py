from dataclasses import replace

import pytest

from loopwright.adapters.checks.tamper_signs import Evidence, tampering, telling
from loopwright.kernel.model import Change

COMMANDS = (("python3", "-m", "pytest", "--junitxml={report}"), ("./run", "lint"), ("make", "test"), ("npm", "test"))


def added(path: str) -> Change:
    return Change(path=path, how="added", blob="1")


def signs(change: Change, before: str = "", after: str = "", **more: object) -> list[tuple[str, str]]:
    seen = Evidence(
        changes=(change,),
        commands=COMMANDS,
        before={change.path: before},
        after={change.path: after},
        **more,  # type: ignore[arg-type]
    )
    return [(finding.rule, finding.severity.value) for finding in tampering(seen)]


def edited(path: str, before: str, after: str) -> list[tuple[str, str]]:
    return signs(Change(path=path, how="changed", blob="1"), before, after)


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("random.py", "shadows-stdlib"),
        ("src/json.py", "shadows-stdlib"),
        ("tests/json/__init__.py", "shadows-stdlib"),
        ("pkg/tests/re.py", "shadows-stdlib"),
        ("pytest.py", "shadows-check"),
        ("pytest/__init__.py", "shadows-check"),
        ("src/pytest/__init__.py", "shadows-check"),
        ("run", "shadows-check"),
        ("npm", "shadows-check"),
        ("sitecustomize.py", "interpreter-hook"),
        ("deep/down/usercustomize.py", "interpreter-hook"),
        ("x.pth", "path-file"),
        ("lib/any.pth", "path-file"),
    ],
)
def test_a_new_file_that_stands_in_front_of_something_is_critical(path: str, rule: str) -> None:
    assert signs(added(path)) == [(rule, "critical")]


@pytest.mark.parametrize(
    "path",
    [
        "app/models/types.py",
        "src/app/json.py",
        "src/app/pytest.py",
        "README.md",
        "tests/test_json.py",
        "runner",
        "src/app.py",
    ],
)
def test_an_ordinary_new_file_is_no_sign(path: str) -> None:
    assert signs(added(path)) == []


def test_an_old_module_with_a_standard_name_may_be_edited() -> None:
    assert edited("random.py", "x = 1", "x = 2") == []


COVERAGE = "[tool.coverage.report]\nfail_under = %d"
JEST = '{"jest": {"coverageThreshold": {"global": {"lines": %d}}}}'
SCRIPTS = '{"scripts": {"test": "%s"}}'


@pytest.mark.parametrize(
    ("path", "before", "after", "rules"),
    [
        ("pyproject.toml", COVERAGE % 90, COVERAGE % 10, ["checks-edited", "threshold-lowered"]),
        ("pyproject.toml", "[project]\nname = 'a'", "[project]\nname = 'b'\ndependencies = ['x']", []),
        ("pyproject.toml", "[tool.ruff]\nselect = ['E']", "[tool.ruff]\nselect = []", ["checks-edited"]),
        ("pyproject.toml", "[project]", "[project", ["checks-edited"]),
        ("setup.cfg", "[metadata]\nname = a\n", "[metadata]\nname = b\n", []),
        ("setup.cfg", "[tool:pytest]\naddopts = -q\n", "[tool:pytest]\naddopts = -k one\n", ["checks-edited"]),
        ("package.json", SCRIPTS % "jest", SCRIPTS % "true", ["checks-edited"]),
        ("package.json", SCRIPTS % "jest", '{"a": 1, ' + (SCRIPTS % "jest")[1:], []),
        ("package.json", JEST % 80, JEST % 8, ["checks-edited", "threshold-lowered"]),
        ("Makefile", "test:\n\tpytest\n", "test:\n\ttrue\n", ["checks-edited"]),
        ("Makefile", "test:\n\tpytest\n", "test:\n\tpytest\ndocs:\n\tmake -C docs\n", []),
        (".github/workflows/ci.yml", "a", "b", ["checks-edited"]),
        ("tox.ini", "a", "b", ["checks-edited"]),
        ("conftest.py", "a", "b", ["checks-edited"]),
        ("tests/conftest.py", "a", "b", ["checks-edited"]),
        ("run", "#!/bin/sh\nmake lint", "#!/bin/sh\ntrue", ["checks-edited"]),
        ("src/app.py", "lines = 90", "lines = 10", []),
    ],
)  # fmt: skip
def test_an_edit_of_how_checks_run_is_high(path: str, before: str, after: str, rules: list[str]) -> None:
    assert sorted(edited(path, before, after)) == [(rule, "high") for rule in rules]


@pytest.mark.parametrize(
    "path", [".envrc", ".vscode/tasks.json", ".mcp.json", ".husky/pre-commit", ".githooks/pre-push"]
)
def test_a_trap_for_people_is_told_and_does_not_block(path: str) -> None:
    assert signs(added(path)) == [("runs-when-opened", "medium")]


def test_what_cannot_be_read_is_a_sign_itself() -> None:
    change = Change(path="tox.ini", how="changed", blob="1")
    (found,) = tampering(Evidence(changes=(change,), commands=COMMANDS, before={"tox.ini": "a"}))
    assert (found.rule, found.severity) == ("unreadable", "high")


def test_a_protected_file_weighs_less_because_the_base_version_ran() -> None:
    change = Change(path="tox.ini", how="changed", blob="1")
    guarded = frozenset({"tox.ini"})
    assert signs(change, "a", "b", guarded=guarded) == [("checks-edited", "medium")]
    assert signs(change, "a", "b", guarded=guarded, approved=guarded) == [("checks-edited", "low")]


def test_what_stands_in_front_of_something_fails_nobody_only_where_no_run_has_it() -> None:
    guarded = frozenset({"json.py"})
    assert signs(added("json.py"), guarded=guarded) == [("shadows-stdlib", "critical")]
    assert signs(added("json.py"), guarded=guarded, held=guarded) == [("shadows-stdlib", "medium")]
    assert signs(added("json.py"), held=guarded) == [("shadows-stdlib", "critical")]


def test_identity_is_rule_and_file() -> None:
    def fingerprint(path: str, after: str) -> str:
        change = Change(path=path, how="changed", blob="1")
        seen = Evidence(changes=(change,), commands=(), before={path: "a"}, after={path: after})
        return tampering(seen)[0].fingerprint

    assert fingerprint("tox.ini", "b") == fingerprint("tox.ini", "c")
    assert fingerprint("tox.ini", "b") != fingerprint("a/tox.ini", "b")


def test_product_that_a_check_names_is_what_it_reads_and_not_how_it_runs() -> None:
    change = Change(path="src/calc.py", how="changed", blob="1")
    commands = (("python", "-m", "py_compile", "src/calc.py"),)
    texts = {"src/calc.py": "x = 1\n"}
    seen = Evidence(changes=(change,), commands=commands, before=texts, after={"src/calc.py": "x = 2\n"})
    assert [finding.rule for finding in tampering(seen)] == ["checks-edited"]
    assert tampering(replace(seen, product=frozenset({"src/calc.py"}))) == ()


def test_only_changed_configuration_is_read() -> None:
    changes = (added("pytest.ini"), Change(path="tox.ini", how="changed"), Change(path="a.py", how="changed"))
    assert telling(changes, COMMANDS) == (changes[1],)
