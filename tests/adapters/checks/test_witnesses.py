"""Which tests show a change: they fail without it, pass with it, and notice when it is broken."""

import asyncio
import os
import pwd
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.config.settings import CheckSettings
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.evidence import Evidence, Level, Witness
from loopwright.kernel.faults import faults_of
from loopwright.kernel.trust import Trust
from tests.adapters.checks.projects import PYTEST, UNITTEST, project

pytestmark = [pytest.mark.unmeasured, pytest.mark.sampled("trust")]

CALC = "def add(a, b):\n    return a + b\n"
MUL = CALC + "\n\ndef mul(a, b):\n    return a * b\n"
HEAD = "import unittest\n\nimport calc\n\n\nclass Calc(unittest.TestCase):\n"
TEST_ADD = "    def test_add(self):\n        self.assertEqual(calc.add(2, 3), 5)\n"
TEST_MUL = "\n    def test_mul(self):\n        self.assertEqual(calc.mul(2, 3), 6)\n"
BASE = {"calc.py": CALC, "tests/test_calc.py": HEAD + TEST_ADD}
FILE = "tests/test_calc.py"
# Tests have an empty home, where rustup finds no toolchain.
RUSTUP = Path(pwd.getpwuid(os.getuid()).pw_dir) / ".rustup"
TOOLCHAINS = {"RUSTUP_HOME": str(RUSTUP)} if RUSTUP.is_dir() else {}


def reported(
    tmp_path: Path, base: Mapping[str, str], changed: Mapping[str, str | None], spec: CheckSettings = UNITTEST
) -> ChecksReported:
    made = project(tmp_path, base, [spec], environ=TOOLCHAINS)
    return asyncio.run(made.report(made.candidate(changed), trust=Trust(base=made.base, in_force=True)))


def evidence_of(report: ChecksReported) -> Evidence:
    assert (faults_of(report), report.held, report.claim) == ((), (), None)
    assert report.evidence is not None
    return report.evidence


@pytest.mark.parametrize("spec", [UNITTEST, PYTEST], ids=["unittest", "pytest"])
def test_a_new_test_in_an_existing_file_shows_a_new_function(tmp_path: Path, spec: CheckSettings) -> None:
    found = evidence_of(reported(tmp_path, BASE, {"calc.py": MUL, FILE: HEAD + TEST_ADD + TEST_MUL}, spec))
    test = "tests/test_calc.py::Calc::test_mul" if spec is PYTEST else "test_calc.Calc.test_mul"
    assert found == Evidence(
        level=Level.SHOWN, witnesses=(Witness(id=test, check="test", fails_on_base="missing-name"),)
    )


CASES = "import pytest\n\nimport calc\n\n\nclass Calc:\n    @pytest.mark.parametrize('n', range(60))\n"
CASES = CASES.replace("Calc", "TestCalc") + "    def test_add(self, n):\n        assert calc.add(n, 1) == n + 1\n"


@pytest.mark.parametrize("name", ["TestCalc", "TestCalcAndMul"])
def test_a_new_test_shows_the_change_beside_many_altered_ones(tmp_path: Path, name: str) -> None:
    more = "\n    def test_mul(self):\n        assert calc.mul(2, 3) == 6\n"
    changed = (
        CASES.replace("TestCalc", name)
        .replace("n + 1", "1 + n")
        .replace("import calc", "from calc import mul\nimport calc")
    )
    found = reported(tmp_path, {**BASE, FILE: CASES}, {"calc.py": MUL, FILE: changed + more}, PYTEST)
    assert [each.id for each in evidence_of(found).witnesses] == [f"{FILE}::{name}::test_mul"]


ROWS = """\
import pytest

import calc

ROWS = [(2, 3, 6), (1, 1, 1)]


@pytest.mark.parametrize(("a", "b", "c"), ROWS)
def test_mul(a, b, c):
    assert calc.mul(a, b) == c
"""


@pytest.mark.parametrize("text", [ROWS, ROWS.replace("ROWS)", "[(2, 3, 6), (1, 1, 1)])").replace("ROWS =", "OTHER =")])
def test_a_case_that_takes_the_place_of_another_one_shows_the_fix(tmp_path: Path, text: str) -> None:
    wrong = {"calc.py": MUL.replace("a * b", "a + b if a == 5 else a * b"), FILE: text}
    fixed = text.replace("(1, 1, 1)", "(5, 3, 15)")
    made = project(tmp_path, wrong, [PYTEST])
    trust = Trust(base=made.base, in_force=True, allow=(FILE,))
    found = asyncio.run(made.report(made.candidate({"calc.py": MUL, FILE: fixed}), trust=trust))
    assert [each.id for each in evidence_of(found).witnesses] == [f"{FILE}::test_mul[5-3-15]"]


def test_a_test_of_the_base_that_was_red_shows_the_fix_beside_a_new_file_of_tests(tmp_path: Path) -> None:
    wrong = {**BASE, "calc.py": MUL.replace("a * b", "a + b"), FILE: HEAD + TEST_ADD + TEST_MUL}
    made = project(tmp_path, wrong, [PYTEST])
    fixed = {"calc.py": MUL, "tests/test_more.py": HEAD + TEST_ADD.replace("test_add", "test_add_again")}
    commit, trust = made.candidate(fixed), Trust(base=made.base, in_force=True)
    asyncio.run(made.report(made.base, trust=trust, preflight=True))
    found = asyncio.run(made.report(commit, step="s2", trust=trust))
    assert [each.id for each in evidence_of(found).witnesses] == [f"{FILE}::Calc::test_mul"]


def test_a_test_that_fails_on_the_base_by_an_assertion_shows_the_fix(tmp_path: Path) -> None:
    wrong = {**BASE, "calc.py": MUL.replace("a * b", "a + b")}
    found = evidence_of(reported(tmp_path, wrong, {"calc.py": MUL, "tests/test_mul.py": HEAD + TEST_MUL}))
    assert [each.fails_on_base for each in found.witnesses] == ["assertion"]


def test_a_test_of_the_base_that_was_red_shows_the_fix(tmp_path: Path) -> None:
    wrong = {"calc.py": MUL.replace("a * b", "a + b"), FILE: HEAD + TEST_ADD + TEST_MUL}
    found = evidence_of(reported(tmp_path, wrong, {"calc.py": MUL}))
    assert [(each.id, each.by) for each in found.witnesses] == [("test_calc.Calc.test_mul", "base")]


def test_a_new_test_in_a_package_of_tests_shows_a_new_module(tmp_path: Path) -> None:
    spec = replace(UNITTEST, run=(*UNITTEST.run, "-t", "."))
    test = HEAD.replace("import calc\n", "import mul as calc\n") + TEST_MUL
    added = {"mul.py": "def mul(a, b):\n    return a * b\n", "tests/test_mul.py": test}
    found = evidence_of(reported(tmp_path, {**BASE, "tests/__init__.py": ""}, added, spec))
    assert [(each.id, each.fails_on_base) for each in found.witnesses] == [
        ("tests.test_mul.Calc.test_mul", "missing-name")
    ]


def test_without_a_new_test_a_change_is_only_guarded(tmp_path: Path) -> None:
    found = evidence_of(reported(tmp_path, BASE, {"calc.py": CALC.replace("a + b", "b + a")}))
    assert found == Evidence(level=Level.GUARDED)


def test_a_new_test_that_passes_on_the_base_shows_nothing(tmp_path: Path) -> None:
    again = TEST_ADD.replace("test_add", "test_sum")
    found = evidence_of(
        reported(tmp_path, BASE, {"calc.py": CALC.replace("a + b", "b + a"), FILE: HEAD + TEST_ADD + again})
    )
    assert found == Evidence(level=Level.GUARDED)


IDLE = "\n    def test_mul(self):\n        calc.mul(2, 3)\n"
HIDING = """
    def test_mul(self):
        mul = calc.mul
        try:
            self.assertEqual(mul(2, 3), 6)
        except AssertionError:
            pass
"""


@pytest.mark.parametrize("test", [IDLE, HIDING], ids=["asserts nothing", "hides its failure"])
def test_a_new_test_that_only_needs_the_name_shows_nothing(tmp_path: Path, test: str) -> None:
    wrong = MUL.replace("a * b", "a + b")
    report = reported(tmp_path, BASE, {"calc.py": wrong, FILE: HEAD + TEST_ADD + test})
    assert evidence_of(report) == Evidence(level=Level.UNTESTED, idle_tests=("test_calc.Calc.test_mul",))


@pytest.mark.parametrize(
    ("changed", "held"),
    [
        ({FILE: HEAD + TEST_ADD.replace("(2, 3), 5", "(2, 4), 6")}, ()),
        ({FILE: HEAD + TEST_ADD.replace("assertEqual", "assertTrue")}, (FILE,)),
        ({FILE: None, "tests/test_sums.py": HEAD + TEST_ADD}, ()),
    ],
    ids=["altered", "held back", "moved"],
)
def test_an_existing_test_is_not_called_a_new_one_that_shows_nothing(
    tmp_path: Path, changed: dict[str, str | None], held: tuple[str, ...]
) -> None:
    """Without the change the new file cannot be imported, which keeps pytest from running any other."""
    new = "from calc import mul\n\n\ndef test_mul():\n    assert mul(2, 3) == 6\n\n\ndef test_idle():\n    mul(2, 3)\n"
    report = reported(tmp_path, BASE, {"calc.py": MUL, "tests/test_mul.py": new, **changed}, PYTEST)
    assert report.evidence is not None
    assert tuple(change.path for change in report.held) == held
    assert report.evidence.idle_tests == ("tests/test_mul.py::test_idle",)


IMPORTS = "\n    def test_mul(self):\n        from calc import mul\n"
CALLS = IMPORTS + "        mul(2, 3)\n"
HAS = '\n    def test_mul(self):\n        self.assertTrue(hasattr(calc, "mul"))\n'
NOTHING_MADE = {
    "raises": CALC + "\n\ndef mul(a, b):\n    raise NotImplementedError\n",
    "passes": CALC + '\n\ndef mul(a, b):\n    """Multiply."""\n    pass\n',
    "says nothing": CALC + '\n\ndef mul(a, b):\n    """Multiply."""\n',
    "dots": CALC + "\n\ndef mul(a, b): ...\n",
    "alias": CALC + "\n\nmul = add\n",
    "import": "from operator import add as mul\n\n\n" + CALC,
    "either": CALC + "\n\nif add:\n    mul = add\nelse:\n    from operator import mul\n",
    "class": CALC + "\n\nclass mul:\n    def __init__(self, a, b): ...\n",
    "empty class": CALC + "\n\nclass mul:\n    pass\n",
    "put in": CALC + '\n\nglobals()["mul"] = add\n',
}


@pytest.mark.parametrize("calc", NOTHING_MADE.values(), ids=NOTHING_MADE)
def test_a_test_that_only_imports_the_name_shows_nothing(tmp_path: Path, calc: str) -> None:
    found = reported(tmp_path, BASE, {"calc.py": calc, FILE: HEAD + TEST_ADD + IMPORTS}).evidence
    assert found is not None
    assert (found.witnesses, found.idle_tests) == ((), ("test_calc.Calc.test_mul",))


@pytest.mark.parametrize("test", [CALLS, HAS], ids=["calls it", "asks whether it is there"])
@pytest.mark.parametrize("how", ["alias", "import", "passes"])
def test_a_test_that_takes_any_value_for_a_name_shows_nothing(tmp_path: Path, how: str, test: str) -> None:
    found = reported(tmp_path, BASE, {"calc.py": NOTHING_MADE[how], FILE: HEAD + TEST_ADD + test}).evidence
    assert found is not None
    assert found.witnesses == ()


def test_a_test_without_an_assertion_does_not_show_a_function_that_was_still_to_do(tmp_path: Path) -> None:
    base = {**BASE, "calc.py": NOTHING_MADE["raises"]}
    found = reported(tmp_path, base, {"calc.py": MUL, FILE: HEAD + TEST_ADD + IDLE}).evidence
    assert found is not None
    assert (found.witnesses, found.idle_tests) == ((), ("test_calc.Calc.test_mul",))


def asserts(*lines: str) -> str:
    return "\n    def test_new(self):\n" + "".join(f"        {line}\n" for line in lines)


RAISES = asserts("with self.assertRaises(calc.Overflow):", "    raise calc.Overflow")
POINT = "\n\nfrom dataclasses import dataclass\n\n\n@dataclass\nclass Point:\n    x: int\n"
MADE = {
    "constant": ("", "LIMIT = 3\n", asserts("self.assertEqual(calc.LIMIT, 3)")),
    "another constant": ("LIMIT = 3\n", "LIMIT = 4\n", asserts("self.assertEqual(calc.LIMIT, 4)")),
    "switched on": ("SWITCH = False\n", "SWITCH = True\n", asserts("self.assertTrue(calc.SWITCH)")),
    "switched off": ("SWITCH = True\n", "SWITCH = False\n", asserts("self.assertFalse(calc.SWITCH)")),
    "constant in a list": ("ALL = []\n", "ALL = []\nALL.append(3)\n", asserts("self.assertEqual(calc.ALL, [3])")),
    "registered": (
        "ALL = []\n",
        "ALL = []\nimport re\nALL.append(re)\n",
        asserts("self.assertEqual(len(calc.ALL), 1)"),
    ),
    "alias": ("", "plus = add\n", asserts("self.assertEqual(calc.plus(2, 3), 5)")),
    "re-export": ("", "from operator import mul\n", asserts("self.assertEqual(calc.mul(2, 3), 6)")),
    "exception": ("", "class Overflow(Exception):\n    pass\n", RAISES),
    "field": (POINT, POINT + "    y: int = 0\n", asserts("self.assertEqual(calc.Point(1, y=2).y, 2)")),
    "class": ("", POINT, asserts("self.assertEqual(calc.Point(1).x, 1)")),
    "attribute": ("class A:\n    pass\n", "class A:\n    size = 2\n", asserts("self.assertEqual(calc.A.size, 2)")),
    "decorator": (
        "",
        "def twice(function):\n    return lambda *given: 2 * function(*given)\n",
        asserts("self.assertEqual(calc.twice(calc.add)(2, 3), 10)"),
    ),
    "compared with itself on other arguments": (
        "",
        "def key(text):\n    return text.lower()\n",
        asserts('self.assertEqual(calc.key("Ab"), calc.key("aB"))'),
    ),
    "hook": (
        "",
        "class Base:\n    def run(self):\n        raise NotImplementedError\n",
        asserts("self.assertRaises(NotImplementedError, calc.Base().run)"),
    ),
}


@pytest.mark.parametrize(("before", "after", "test"), MADE.values(), ids=MADE)
def test_a_new_test_that_looks_at_it_shows_code_of_every_kind(
    tmp_path: Path, before: str, after: str, test: str
) -> None:
    base = {**BASE, "calc.py": CALC + before}
    found = evidence_of(reported(tmp_path, base, {"calc.py": CALC + after, FILE: HEAD + TEST_ADD + test}))
    assert (found.level, [each.id for each in found.witnesses]) == (Level.SHOWN, ["test_calc.Calc.test_new"])


def test_an_unchanged_test_whose_file_does_not_load_on_the_base_is_no_witness(tmp_path: Path) -> None:
    text = HEAD.replace("import calc\n", "import calc\nfrom calc import mul\n") + TEST_ADD
    found = evidence_of(reported(tmp_path, BASE, {"calc.py": MUL, FILE: text}))
    assert (found.level, found.witnesses) == (Level.UNTESTED, ())


NAMED = "from calc import NAME\n\n\ndef test_name():\n    assert NAME\n"


def test_a_new_test_that_passes_on_the_base_shows_nothing_beside_one_that_does_not_load_there(tmp_path: Path) -> None:
    wrong = {"calc.py": "NAME = 1\n\n\n" + CALC.replace("a + b", "a + b if a > 0 else 0")}
    more = {"tests/test_more.py": HEAD + TEST_ADD.replace("test_add", "test_more"), "tests/test_name.py": NAMED}
    found = evidence_of(reported(tmp_path, BASE, wrong | more, PYTEST))
    assert (found.level, found.witnesses) == (Level.GUARDED, ())


def test_a_test_that_fails_on_the_base_shows_the_fix_beside_one_that_does_not_load_there(tmp_path: Path) -> None:
    wrong = {**BASE, "calc.py": MUL.replace("a * b", "a + b")}
    fixed = {"calc.py": MUL + "\n\nNAME = 1\n", "tests/test_mul.py": HEAD + TEST_MUL, "tests/test_name.py": NAMED}
    found = evidence_of(reported(tmp_path, wrong, fixed, PYTEST))
    assert [(each.id, each.fails_on_base) for each in found.witnesses] == [
        ("tests/test_mul.py::Calc::test_mul", "assertion")
    ]


@pytest.mark.parametrize("test", [TEST_ADD, ""], ids=["kept", "removed"])
def test_tests_are_known_that_did_not_run_beside_one_that_does_not_load_on_the_base(tmp_path: Path, test: str) -> None:
    base = {**BASE, "tests/test_name.py": NAMED.replace("NAME", "mul")}
    found = reported(tmp_path, base, {"calc.py": MUL, FILE: HEAD + test + TEST_MUL}, PYTEST)
    gone = [each.id for each in found.weakened]
    assert gone == ([] if test else [f"{FILE}::Calc::test_add"])


def test_a_candidate_whose_own_new_test_fails_is_a_failed_attempt(tmp_path: Path) -> None:
    wrong = MUL.replace("a * b", "a + b")
    changed = {"calc.py": wrong, FILE: HEAD + TEST_ADD + TEST_MUL, "setup.py": "# a comment\n"}
    report = reported(tmp_path, {**BASE, "setup.py": ""}, changed)
    assert [fault.rule for fault in faults_of(report)] == ["test_calc.Calc.test_mul"]
    assert report.claim is not None
    assert (report.claim.new, report.claim.untried, report.claim.at_once) == (("test_calc.Calc.test_mul",), True, False)


def test_new_tests_that_assert_nothing_leave_the_change_untested(tmp_path: Path) -> None:
    wrong = MUL.replace("a * b", "a + b")
    report = reported(tmp_path, BASE, {"calc.py": wrong, FILE: HEAD + TEST_ADD + IDLE})
    assert report.canary is not None
    assert report.evidence is not None
    assert (report.canary.said, report.evidence.level) == ("untested-change", Level.UNTESTED)


STACK = (
    "\n\nclass Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n        pass\n"
)
TABLE = CALC + "\n\nTABLE = {}\n"


@pytest.mark.parametrize(
    ("base", "calc", "lines"),
    [
        (CALC, NOTHING_MADE["passes"], ('self.assertTrue(hasattr(calc, "mul"))', "calc.mul(2, 3)")),
        (CALC, MUL.replace("a * b", "a + b"), ("self.assertEqual(calc.mul(2, 3), calc.mul(2, 3))",)),
        (CALC, CALC + STACK, ("stack = calc.Stack()", "stack.push(1)")),
        (CALC, CALC + STACK + "\n    def __repr__(self):\n        return 'x'\n", ("repr(calc.Stack())",)),
        (TABLE, TABLE + '\n\ndef mul(a, b):\n    pass\n\n\nTABLE["mul"] = mul\n', ('calc.TABLE["mul"](2, 3)',)),
    ],
    ids=["asks and calls", "compares it with itself", "makes an instance", "shows it", "looks it up"],
)
def test_new_tests_that_take_any_value_show_nothing_whatever_they_failed_by(
    tmp_path: Path, base: str, calc: str, lines: tuple[str, ...]
) -> None:
    changed = {"calc.py": calc, FILE: HEAD + TEST_ADD + asserts(*lines)}
    found = reported(tmp_path, {**BASE, "calc.py": base}, changed).evidence
    assert found is not None
    assert (found.level, found.witnesses) == (Level.UNTESTED, ())


def test_a_change_of_annotations_alone_is_not_shown(tmp_path: Path) -> None:
    typed = CALC.replace("(a, b)", "(a: int, b: int) -> int")
    assert evidence_of(reported(tmp_path, BASE, {"calc.py": typed})) == Evidence(level=Level.NOT_SHOWN)


def test_a_test_in_a_file_that_a_person_let_change_shows_the_change(tmp_path: Path) -> None:
    made = project(tmp_path, BASE, [UNITTEST])
    commit = made.candidate({"calc.py": MUL, FILE: HEAD + TEST_ADD + TEST_MUL})
    trust = Trust(base=made.base, in_force=True, allow=("tests/**",))
    found = evidence_of(asyncio.run(made.report(commit, trust=trust)))
    assert [each.id for each in found.witnesses] == ["test_calc.Calc.test_mul"]
    assert found.altered_tests == ()


JS = "export const add = (a, b) => a + b;\n"
JS_MUL = JS + "export const mul = (a, b) => a * b;\n"
JS_HEAD = "import assert from 'node:assert';\nimport test from 'node:test';\n"
JS_TEST = f"{JS_HEAD}import * as calc from '../calc.mjs';\ntest('adds', () => assert.equal(calc.add(1, 2), 3));\n"
JS_FILE = "tests/calc.test.mjs"
RUST = "pub fn add(a: i64, b: i64) -> i64 { a + b }\n"
RUST_MUL = RUST + "pub fn mul(a: i64, b: i64) -> i64 { a * b }\n"
RUST_TEST = "#[test]\nfn adds() { assert_eq!(calc::add(1, 2), 3); }\n"
MANIFEST = '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n'
LOCK = 'version = 3\n\n[[package]]\nname = "calc"\nversion = "0.1.0"\n'
NODE_BASE = {"calc.mjs": JS, JS_FILE: JS_TEST, "package.json": "{}"}
CARGO_BASE = {"Cargo.toml": MANIFEST, "Cargo.lock": LOCK, "src/lib.rs": RUST, "tests/calc.rs": RUST_TEST}


@pytest.mark.trust
@pytest.mark.parametrize(
    ("command", "base", "changed", "expected"),
    [
        (
            "node --test",
            NODE_BASE,
            {"calc.mjs": JS_MUL, JS_FILE: JS_TEST + "test('mul', () => assert.equal(calc.mul(2, 3), 6));\n"},
            "missing-name",
        ),
        (
            "node --test",
            NODE_BASE,
            {
                "calc.mjs": JS_MUL,
                "tests/mul.test.mjs": f"{JS_HEAD}import {{ mul }} from '../calc.mjs';\n"
                "test('mul', () => assert.equal(mul(2, 3), 6));\n",
            },
            "missing-name",
        ),
        (
            "node --test",
            NODE_BASE,
            {
                "times.mjs": "export default (a, b) => a * b;\n",
                "tests/mul.test.mjs": f"{JS_HEAD}import mul from '../times.mjs';\n"
                "test('mul', () => assert.equal(mul(2, 3), 6));\n",
            },
            "missing-name",
        ),
        (
            "node --test",
            {**NODE_BASE, "calc.mjs": JS_MUL.replace("a * b", "a + b")},
            {"calc.mjs": JS_MUL, JS_FILE: JS_TEST + "test('mul', () => assert.equal(calc.mul(2, 3), 6));\n"},
            "assertion",
        ),
        (
            "cargo test --offline",
            CARGO_BASE,
            {"src/lib.rs": RUST_MUL, "tests/mul.rs": "#[test]\nfn mul() { assert_eq!(calc::mul(2, 3), 6); }\n"},
            "missing-name",
        ),
    ],
    ids=["a member", "an export", "a module", "a value", "a function of rust"],
)
def test_a_new_test_in_another_language_shows_a_new_name(
    tmp_path: Path, command: str, base: dict[str, str], changed: dict[str, str], expected: str
) -> None:
    program, *words = command.split()
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    spec = CheckSettings(name="test", run=(program, *words), timeout=300)
    found = evidence_of(reported(tmp_path, base, changed, spec))
    assert [(each.id.rpartition(" ")[2], each.fails_on_base) for each in found.witnesses] == [("mul", expected)]
