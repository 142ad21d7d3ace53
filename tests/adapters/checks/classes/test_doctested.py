"""Docstrings that a test of the base runs by itself are tests; those of other modules are not."""

import pytest

from tests.adapters.checks.classes.held import Files, classes

PYTEST = ("python", "-m", "pytest")
SHOWN = 'def add(a, b):\n    """Adds.\n\n    >>> add(2, 3)\n    5\n    """\n    return a + b\n'
BENT = SHOWN.replace("    5\n", "    -1\n").replace("a + b", "a - b")


def project(test: str) -> Files:
    return {"src/calc/__init__.py": SHOWN, "src/calc/core.py": SHOWN, "src/calc/x.rs": "", "tests/test_d.py": test}


@pytest.mark.parametrize(
    "test",
    [
        "import doctest\nimport calc.core\n\ndoctest.testmod(calc.core)\n",
        "import doctest\nfrom calc import core\n\ndoctest.testmod(m=core, verbose=True)\n",
        "from doctest import testmod\nimport calc.core as c\n\ntestmod(c)\n",
        "import doctest\n\nsuite = doctest.DocTestSuite('calc.core')\n",
        "import doctest\nfrom calc import core\n\ndef load_tests(*_):\n    return doctest.DocTestSuite(core)\n",
        "import doctest\n\nfor each in every():\n    doctest.testmod(each)\n",
        "import doctest\nimport importlib\n\ndoctest.testmod(importlib.import_module('calc.core'))\n",
        "import doctest\nimport calc\n\nrun = doctest.testmod\nrun(calc.core)\n",
        "import doctest\nimport calc\n\nlist(doctest.DocTestFinder().find(calc.core))\n",
        "import doctest\nimport calc\n\ndoctest.run_docstring_examples(calc.add, {})\n",
        "import doctest\n\ndoctest.testmod(core) if print 1\n",
    ],
)
def test_what_a_test_starts_is_put_back(test: str) -> None:
    found = classes(project(test), {"src/calc/core.py": BENT}, PYTEST)["src/calc/core.py"]
    assert (found.kind, found.is_gated, found.judged) == ("product", True, SHOWN.replace("a + b", "a - b").encode())


@pytest.mark.parametrize(
    "test",
    [
        "import calc.core\n",
        "import doctest\n\ndoctest.testmod()\n",
        "import doctest\nimport calc\n\ndoctest.testmod(calc)\n",
        "import doctest\nfrom calc import other\n\ndoctest.DocTestSuite(other)\n",
    ],
)
def test_docstrings_that_no_test_starts_may_say_what_they_want(test: str) -> None:
    found = classes(project(test), {"src/calc/core.py": BENT}, PYTEST)["src/calc/core.py"]
    assert (found.kind, found.is_gated, found.judged) == ("product", False, None)


def test_examples_are_not_bent_from_another_module() -> None:
    base = project("import doctest\nimport calc.core\n\ndoctest.testmod(calc.core)\n")
    bends = {"src/calc/__init__.py": f"{SHOWN}\n\nadd.__doc__ = ''\n", "src/calc/x.rs": "fn x() {}\n"}
    found = classes(base, bends, PYTEST)
    assert (found["src/calc/__init__.py"].waits, found["src/calc/x.rs"].is_gated) == (True, False)
