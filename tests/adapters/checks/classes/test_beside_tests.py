"""What lies beside tests under a name of its own, and only serves them, is theirs; a product with its tests is not."""

import pytest

from tests.adapters.checks.classes.held import Files, classes

ADD = "def add(a, b):\n    return a + b\n"
SAME, BENT = "def same(a, b):\n    assert a == b\n", "def same(a, b):\n    pass\n"
TEST = "import calc\nfrom compare import same\n\n\ndef test_add():\n    same(calc.add(2, 3), 5)\n"
JS_TEST = "const { add } = require('../lib/calc.js');\nconst same = require('./same');\n"
JS_SAME = "module.exports = (a, b) => { if (a !== b) throw new Error('no'); };\n"
QA: Files = {"calc.py": ADD, "qa/test_calc.py": TEST, "qa/compare.py": SAME}
DEEPER: Files = {
    "calc.py": ADD,
    "qa/test_calc.py": TEST.replace("compare", "support.compare"),
    "qa/support/__init__.py": "",
    "qa/support/compare.py": f"from . import words\n\n\n{SAME}",
    "qa/support/words.py": "WORDS = {}\n",
}
NODE: Files = {
    "package.json": '{"name": "calc", "main": "lib/calc.js"}\n',
    "lib/calc.js": "exports.add = (a, b) => a + b;\n",
    "qa/calc.test.js": JS_TEST,
    "qa/same.js": JS_SAME,
}
PACKAGED = '[tool.setuptools]\npackages = [\n    "calc",\n    "qa",\n]\n'


def kind(base: Files, path: str, text: str | None = BENT) -> str:
    return str(classes(base, {path: text})[path].kind)


@pytest.mark.parametrize(
    ("base", "path"),
    [
        (QA, "qa/compare.py"),
        (
            {**QA, "qa/__init__.py": "", "qa/test_calc.py": TEST.replace("from compare", "from qa.compare")},
            "qa/compare.py",
        ),
        ({**QA, "pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["qa"]\n'}, "qa/compare.py"),
        (DEEPER, "qa/support/compare.py"),
        (DEEPER, "qa/support/words.py"),
        (NODE, "qa/same.js"),
    ],
)
def test_a_helper_beside_tests_is_theirs(base: Files, path: str) -> None:
    assert kind(base, path) == "test"


def test_more_may_stand_in_it_and_nothing_in_front_of_it() -> None:
    assert kind(QA, "qa/compare.py", f"{SAME}\n\ndef other(a, b):\n    assert a != b\n") == "test"
    assert kind(QA, "qa/compare/__init__.py") == "judge"
    assert kind(QA, "qa/words.py") == "product"


@pytest.mark.parametrize(
    ("base", "path"),
    [
        # Tests beside what they test
        ({"calc.py": ADD, "compare.py": SAME, "test_calc.py": TEST}, "compare.py"),
        ({"calc.py": ADD, "qa/test_compare.py": TEST, "qa/compare.py": SAME}, "qa/compare.py"),
        ({"src/calc.py": ADD, "src/test_calc.py": TEST, "src/compare.py": SAME}, "src/compare.py"),
        (
            {"calc/__init__.py": ADD, "calc/parts/test_calc.py": TEST, "calc/parts/compare.py": SAME},
            "calc/parts/compare.py",
        ),
        ({**QA, "src/words.py": ADD, "src/test_calc.py": TEST.replace("compare", "words")}, "src/words.py"),
        # Others know it
        (
            {**QA, "calc.py": f"import compare\n\n\n{ADD}", "qa/__init__.py": "", "calc2.py": "import qa.compare\n"},
            "qa/compare.py",
        ),
        ({**QA, "settings.py": "APPS = ['qa']\n"}, "qa/compare.py"),
        ({**QA, "pyproject.toml": PACKAGED}, "qa/compare.py"),
        ({**QA, "pyproject.toml": '[project.scripts]\nqa = "qa.compare:same"\n'}, "qa/compare.py"),
        ({**QA, "qa/pyproject.toml": "[project]\nname = 'qa'\n"}, "qa/compare.py"),
        # A program of its own lies there
        ({**QA, "qa/main.py": "import compare\n\ncompare.same(1, 1)\n"}, "qa/compare.py"),
        # Nothing says what its tests are for
        ({**QA, "qa/test_calc.py": None, "qa/test_sums.py": TEST}, "qa/compare.py"),
        ({**QA, "qa/test_calc.py": TEST.replace("import calc\n", "")}, "qa/compare.py"),
        # No test takes it in
        ({**QA, "qa/test_calc.py": "import calc\n"}, "qa/compare.py"),
        ({**NODE, "package.json": '{"name": "calc", "files": ["lib", "qa"]}\n'}, "qa/same.js"),
        ({**NODE, "qa/calc.test.js": JS_TEST.replace("./same", "../lib/same"), "lib/same.js": JS_SAME}, "lib/same.js"),
    ],
)
def test_a_product_with_its_tests_beside_it_stays_one(base: dict[str, str | None], path: str) -> None:
    assert kind({each: text for each, text in base.items() if text is not None}, path) == "product"
