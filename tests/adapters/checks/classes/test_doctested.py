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
        "from doctest import testmod as run\nfrom calc import core\n\nrun(core)\n",
        "import doctest as d\nfrom calc import core\n\nd.testmod(core)\n",
        "import doctest\nfrom calc import core\n\ngetattr(doctest, 'test' + 'mod')(core)\n",
        "import doctest\nfrom calc import core\n\ndoctest.DocTestParser().get_examples(core.add.__doc__)\n",
        "import subprocess\n\nsubprocess.run(['python', '-m', 'doctest', 'src/calc/core.py'], check=True)\n",
        "import doctest\nfrom calc import core\n\ndoctest.testmod(**{'m': core})\n",
        "import doctest\nimport calc\nfrom calc import core\n\nfor calc in (core,):\n    doctest.testmod(calc)\n",
        "from calc import core\n\nsaid = core.add.__doc__.split()\nassert str(eval(said[2], vars(core))) == said[3]\n",
    ],
)
def test_what_a_test_starts_is_put_back(test: str) -> None:
    found = classes(project(test), {"src/calc/core.py": BENT}, PYTEST)["src/calc/core.py"]
    assert (found.kind, found.is_gated, found.judged) == ("product", False, SHOWN.replace("a + b", "a - b").encode())


@pytest.mark.parametrize(
    "test",
    [
        "import calc.core\n",
        "import doctest\n\ndoctest.testmod()\n",
        "import doctest\nimport calc\n\ndoctest.testmod(calc)\n",
        "import doctest\nfrom calc import other\n\ndoctest.DocTestSuite(other)\n",
        "from doctest import ELLIPSIS, testmod\nimport calc\n\ntestmod(calc, optionflags=ELLIPSIS)\n",
        "import calc.core\n\nassert calc.core.add.__doc__\n",
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


BY_ITSELF = "\n\nif __name__ == '__main__':\n    import doctest as d\n\n    d.testmod()\n"
CHECKS = "import doctest\n\n\ndef check(m):\n    return doctest.testmod(m).failed == 0\n"


@pytest.mark.parametrize(
    ("beside", "told"),
    [
        ({"src/calc/core.py": SHOWN + BY_ITSELF, "tests/test_d.py": "import subprocess\n"}, True),
        ({"src/calc/core.py": SHOWN + BY_ITSELF, "tests/test_d.py": "import calc.core\n"}, False),
        ({"tools/shown.py": CHECKS, "tests/test_d.py": "from tools.shown import check\n"}, True),
        ({"tools/shown.py": CHECKS, "tests/test_d.py": "run('tools/shown.py')\n"}, True),
        ({"tools/shown.py": CHECKS, "tests/test_d.py": "import calc\n"}, False),
        ({"docs/conf.py": "extensions = ['sphinx.ext.doctest']\n", "tests/test_d.py": "import calc\n"}, False),
        ({"src/calc/__init__.py": CHECKS, "tests/test_d.py": "import calc\n"}, True),
        ({"src/calc/__init__.py": "import calc.core" + BY_ITSELF, "tests/test_d.py": "import calc\n"}, False),
        ({"src/calc/__init__.py": "import doctest\n\nP = doctest.DocTestParser()\n"}, False),
    ],
)
def test_a_helper_may_start_them_and_a_module_its_own(beside: Files, *, told: bool) -> None:
    base = {**project("import calc\n"), **beside}
    bent = base["src/calc/core.py"].replace("    5\n", "    -1\n")
    assert classes(base, {"src/calc/core.py": bent}, PYTEST)["src/calc/core.py"].judged == (
        base["src/calc/core.py"].encode() if told else None
    )
