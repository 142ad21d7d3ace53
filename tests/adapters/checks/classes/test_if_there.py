"""What tests take only where it is there is a judge's once somebody puts it there; what the product takes is not."""

import pytest

from tests.adapters.checks.classes.held import Files, classes

PYTEST = ("python", "-m", "pytest")
IMPORTS = "try:\n    from {0} import same\nexcept {1}:\n    same = None\n"
READS = "try:\n    want = (ROOT / 'calc' / '{}').read_text()\nexcept OSError:\n    want = '5'\n"
SPEC = "import importlib.util\n\nif importlib.util.find_spec('fast'):\n    import fast\n"
SUPPRESSED = "with contextlib.suppress({}):\n    WANT = json.loads((HERE / 'want.json').read_text())\n"
NAMED = (
    "WANT = HERE / 'want.json'\n\n\ndef test_a():\n    try:\n        read(WANT)\n    except Exception:\n        pass\n"
)
LISTED = "try:\n    for each in (ROOT / 'more').iterdir():\n        run(each)\nexcept FileNotFoundError:\n    pass\n"
JS = "const test = require('node:test');\nlet want = 5;\ntry { want = %s; } catch {}\n"
LATER = "const fast = await import('../lib/fast.js').catch(() => null);\n"


def why(tests: Files, new: str, product: Files | None = None) -> str:
    base = {"calc/__init__.py": "", "lib/calc.js": "", **tests, **(product or {})}
    found = classes(base, {new: "1"}, PYTEST)[new]
    return found.why if found.kind == "judge" else ""


@pytest.mark.parametrize(
    ("test", "text", "new"),
    [
        ("tests/test_a.py", IMPORTS.format("fast", "ImportError"), "fast/__init__.py"),
        ("tests/test_a.py", IMPORTS.format("fast", "ImportError"), "fast/below.py"),
        ("tests/test_a.py", IMPORTS.format("fast", "(ValueError, ModuleNotFoundError)"), "src/fast/__init__.py"),
        ("tests/test_a.py", IMPORTS.format("calc._fast", "Exception"), "calc/_fast.py"),
        ("tests/test_a.py", IMPORTS.format("fast", "ImportError").replace(" ImportError", ""), "fast/__init__.py"),
        ("conftest.py", SPEC, "fast/__init__.py"),
        ("conftest.py", READS.format("over.json"), "calc/over.json"),
        ("tests/test_a.py", READS.format("over"), "calc/over"),
        ("tests/test_a.py", SUPPRESSED.format("OSError"), "calc/want.json"),
        ("tests/test_a.py", NAMED, "calc/want.json"),
        ("tests/test_a.py", LISTED, "calc/more/a.json"),
        ("tests/a.test.js", JS % "JSON.parse(fs.readFileSync('lib/want.json'))", "lib/want.json"),
        ("tests/a.test.js", JS % "require('../lib/want')", "lib/want.js"),
        ("tests/a.test.js", JS % "require('../lib/want')", "lib/want/index.js"),
        ("tests/a.test.js", LATER, "lib/fast.js"),
    ],
)
def test_it_would_judge(test: str, text: str, new: str) -> None:
    assert why({test: text}, new) == f"is what a test takes where it is there: {test}"


@pytest.mark.parametrize(
    ("test", "text", "new"),
    [
        ("tests/test_a.py", "from fast import same\n", "fast/__init__.py"),
        ("tests/test_a.py", IMPORTS.format("calc", "ImportError"), "calc/core.py"),
        ("tests/test_a.py", IMPORTS.format("fast", "ValueError"), "fast/__init__.py"),
        ("tests/test_a.py", "try:\n    run(['calc', 'a.py'])\nexcept CalledProcessError:\n    pass\n", "calc/a.py"),
        ("tests/test_a.py", "try:\n    run(['more'])\nexcept OSError:\n    pass\n", "calc/more"),
        ("tests/test_a.py", READS.format("over.json"), "calc/other.json"),
        ("tests/test_a.py", SUPPRESSED.format("ValueError"), "calc/want.json"),
        ("tests/a.test.js", "const { a } = require('../lib/want');\ntry { a(); } catch (e) {}\n", "lib/want.js"),
    ],
)
def test_what_is_asked_for_outright_may_be_made(test: str, text: str, new: str) -> None:
    assert why({test: text}, new) == ""


@pytest.mark.parametrize(
    ("test", "text", "new", "product"),
    [
        ("tests/test_a.py", IMPORTS.format("calc._fast", "ImportError"), "calc/_fast.py", "from calc import _fast\n"),
        ("tests/test_a.py", READS.format("over.json"), "calc/over.json", "P = HERE / 'over.json'\n"),
    ],
)
def test_what_the_product_takes_as_well_is_its_own(test: str, text: str, new: str, product: str) -> None:
    assert why({test: text}, new, {"calc/a.py": product}) == ""
