"""Links: those that an agent adds lead where they say, and those of the base make a test of what they lead to."""

import pytest

from loopwright.adapters.checks.classes.links import Led, led
from tests.adapters.checks.classes.held import LINK, Files, classes

PYTEST = ("python", "-m", "pytest")
CODE = "def add(a, b):\n    return a + b\n"
HELPS = "def same(a, b):\n    assert a == b\n"
OTHER = "x = 1\n"
SRC: Files = {
    "src/calc/__init__.py": CODE,
    "src/calc/core.py": CODE,
    "src/calc/more/one.py": CODE,
    "tests/test_calc.py": "import calc\n",
}
CALC: Files = {"calc/__init__.py": CODE, "calc/core.py": CODE, "tests/test_core.py": "import calc\n"}


@pytest.mark.parametrize(
    ("links", "free"),
    [
        ({"src/calc/deep/y": "../../../src", "src/calc/core.py": "deep/y/../../src/calc/core.py"}, False),
        ({"src/calc/deep/y": "../more", "src/calc/core.py": "deep/y/one.py"}, False),
        ({"src/calc/y": "more/one.py", "src/calc/core.py": "y"}, False),
        ({"src/calc/core.py": "more/../../calc/more/one.py"}, False),
        ({"src/calc/core.py": "kept/one.py"}, False),
        ({"src/calc/core.py": "more/one.py"}, True),
        ({"src/calc/more/core.py": "../core.py"}, True),
    ],
)
def test_a_new_link_leads_where_its_words_say(links: Files, *, free: bool) -> None:
    modes = dict.fromkeys(links, LINK)
    found = classes(SRC, links, PYTEST, modes=modes, links={"src/calc/kept": "more"})
    assert found[list(links)[-1]].is_gated is not free


@pytest.mark.parametrize(
    ("files", "links", "path"),
    [
        ({"calc/selfcheck.py": CODE}, {"tests/test_calc.py": "../calc/selfcheck.py"}, "calc/selfcheck.py"),
        ({"calc/selfcheck.py": CODE}, {"calc/test_calc.py": "selfcheck.py"}, "calc/selfcheck.py"),
        ({"calc/same.py": HELPS}, {"tests/helping.py": "../calc/same.py"}, "calc/same.py"),
        ({"calc/v/a.json": "1"}, {"tests/case.json": "../calc/v/a.json"}, "calc/v/a.json"),
        ({"calc/v/a.json": "1"}, {"tests/cases": "../calc/v"}, "calc/v/a.json"),
        ({"calc/v/1/a.json": "1"}, {"tests/cases": "../calc/now", "calc/now": "v/1"}, "calc/v/1/a.json"),
        ({"calc/qa/test_a.py": "", "calc/qa/aid.py": HELPS}, {"tests": "calc/qa"}, "calc/qa/aid.py"),
        ({"calc/qa/aid.py": HELPS}, {"tests/aids": "../calc/qa"}, "calc/qa/aid.py"),
        ({"calc/x/a [1].json": "1"}, {"tests/a.json": "../calc/x/a [1].json"}, "calc/x/a [1].json"),
    ],
)
def test_what_a_link_of_tests_leads_to_is_a_test(files: Files, links: Files, path: str) -> None:
    base = {path: text for path, text in CALC.items() if "tests" not in links or not path.startswith("tests/")}
    found = classes({**base, **files}, {path: OTHER, "calc/core.py": OTHER}, PYTEST, links=links)
    assert (found[path].kind, found["calc/core.py"].kind) == ("test", "product")


def test_a_link_on_the_way_to_a_test_is_one() -> None:
    base = {**CALC, "calc/v/1/a.json": "1", "calc/v/2/a.json": "2"}
    links = {"tests/cases": "../calc/now", "calc/now": "v/1"}
    found = classes(base, {"calc/now": "v/2"}, PYTEST, links=links)["calc/now"]
    assert (found.kind, found.is_gated) == ("changed test", True)


@pytest.mark.parametrize(
    ("files", "links", "command", "path"),
    [
        ({"calc/fix.py": OTHER}, {"tests/conftest.py": "../calc/fix.py"}, PYTEST, "calc/fix.py"),
        ({"calc/p.toml": OTHER}, {"pytest.ini": "calc/p.toml"}, PYTEST, "calc/p.toml"),
        ({"calc/rules.py": OTHER}, {".mocharc.py": "calc/rules.py"}, PYTEST, "calc/rules.py"),
        ({"calc/check.sh": "pytest\n"}, {"check.sh": "calc/check.sh"}, ("sh", "check.sh"), "calc/check.sh"),
        ({"calc/ci/all.sh": "pytest\n"}, {"ci": "calc/ci"}, ("sh", "ci/all.sh"), "calc/ci/all.sh"),
        ({"calc/a.sh": "sh calc/b.sh", "calc/b.sh": ""}, {"check.sh": "calc/a.sh"}, ("sh", "check.sh"), "calc/b.sh"),
    ],
)
def test_what_a_link_of_the_checks_leads_to_judges(
    files: Files, links: Files, command: tuple[str, ...], path: str
) -> None:
    found = classes({**CALC, **files}, {path: "true\n", "calc/core.py": OTHER}, command, links=links)
    assert (found[path].kind, found["calc/core.py"].kind) == ("judge by name", "product")


@pytest.mark.parametrize(
    ("links", "path", "kind"),
    [
        ({"tests/calc": "../src/calc"}, "src/calc/core.py", "product"),
        ({"tests/calc": "../src/calc"}, "src/calc/more/one.py", "product"),
        ({"tests/subject": "../src/calc"}, "src/calc/core.py", "product"),
        ({"tests/src": "../src"}, "src/calc/core.py", "product"),
        ({"tests/core.py": "../src/calc/core.py"}, "src/calc/core.py", "product"),
        ({"tests/fixtures/app/node_modules/calc": "../../../.."}, "src/calc/core.py", "product"),
        ({"tests/README.md": "../README.md"}, "README.md", "text"),
        ({"tests/docs": "../docs"}, "docs/a.md", "text"),
        ({"CLAUDE.md": "README.md", ".rules.md": "README.md"}, "README.md", "text"),
        ({".claude/skills": "../src/calc/more"}, "src/calc/more/one.py", "product"),
        ({"tests/gone": "../../outside", "tests/round": "round"}, "src/calc/core.py", "product"),
        ({"tests/calc": "../src/calc"}, "src/calc/test_new.py", "test"),
        ({"tests/calc": "../src/calc"}, "src/calc/conftest.py", "judge by name"),
        ({"scripts/calc": "../src/calc"}, "src/calc/core.py", "product"),
    ],
)
def test_the_product_that_is_linked_to_be_found_by_tests_stays_product(links: Files, path: str, kind: str) -> None:
    base = {**SRC, "README.md": "# calc\n", "docs/a.md": "# a\n"}
    assert classes(base, {path: OTHER}, PYTEST, links=links)[path].kind == kind


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a/x", Led("b/c/x", ("a",))),
        ("a/../x", Led("b/x", ("a",))),
        ("e/x", Led("b/c/x", ("e", "a"))),
        ("b/./x", Led("b/x", ())),
        ("up", None),
        ("far/x", None),
        ("round", None),
        ("home", Led("", ("home",))),
    ],
)
def test_a_path_is_followed_step_by_step(path: str, expected: Led | None) -> None:
    links = {"a": "b/c", "e": "a", "up": "../x", "far": "/etc", "round": "again", "again": "round", "home": "./"}
    assert led(path, links) == expected
