"""What a runner calls by itself is told where tests of the base take it in; elsewhere such names are anybody's."""

import asyncio

import pytest

from loopwright.adapters.checks.classes.layout import Layout
from loopwright.adapters.checks.reaching import Reach
from loopwright.kernel.model import Change, Key, LoopId
from loopwright.kernel.trust import Classed, FileClass
from loopwright.ports.checks import ChecksRun
from tests.adapters.checks.classes.held import BASE, CANDIDATE, Files, Held

ADD = "def add(a, b):\n    return a + b\n"
STAR = "from calc import *\n\n\ndef test_add():\n    assert abs(add(2, 3)) == 5\n"
ENV = "class Env:\n    name = 'env'\n"
CASE = "import unittest\n\nfrom calc.env import Env\n\n\nclass Calc(Env, unittest.TestCase):\n    pass\n"
PLAIN = "from calc.env import Env as Held\n\n\nclass TestCalc(Held):\n    def test_add(self):\n        pass\n"
FAKE = "from calc.env import Env\n\n\nclass Fake(Env):\n    pass\n\n\ndef test_add():\n    assert Fake()\n"


def named(*names: str) -> str:
    return ADD + "".join(f"\n\ndef {name}():\n    pass\n" for name in names)


def having(*names: str) -> str:
    return ENV + "".join(f"\n    def {name}(self):\n        pass\n" for name in names)


def told(base: Files, changed: Files) -> str:
    held = Held(base=base, candidate={**base, **changed})
    reach = Reach(source=held, layout=Layout(product=("calc/**",), tests=("tests/**", "**/test_*.py")))
    classed = tuple(Classed(change=Change(path=path, how="changed"), kind=FileClass.PRODUCT) for path in changed)
    run = ChecksRun(loop=LoopId("l"), key=Key.parse("checks-1.1"), step="s", commit=CANDIDATE, base=BASE)
    return " ".join(finding.issue for finding in asyncio.run(reach.findings(classed, run)))


def package(test: str, **files: str) -> dict[str, str]:
    return {"calc/__init__.py": ADD, "calc/env.py": ENV, "tests/test_calc.py": test} | {
        f"calc/{name}.py": text for name, text in files.items()
    }


CORE, BENT_CORE = (text.replace("Env", "Core") for text in (ENV, having("setUp")))
RENAMED = package(CASE, env="from calc.core import Core as Env\n", core=CORE)
DERIVED = package(CASE, env="from calc.core import Core\n\n\nclass Env(Core):\n    pass\n", core=CORE)
INSIDE = {"calc/__init__.py": ADD, "calc/core.py": ADD, "calc/parts/test_core.py": "import calc\n"}
PASSED_ON = package(STAR, __init__="from .core import *\n", core=ADD)


@pytest.mark.parametrize("name", ["setUpModule", "setup_module", "tearDownModule", "setup_package", "pytestmark"])
def test_a_package_around_tests_is_asked_for_it(name: str) -> None:
    assert f"({name})" in told(INSIDE, {"calc/__init__.py": named(name)})


@pytest.mark.parametrize(
    ("base", "path", "text"),
    [
        (INSIDE, "calc/__init__.py", f"{ADD}__all__ = ['add']\n\n\ndef setup_module():\n    pass\n"),
        (INSIDE, "calc/__init__.py", f"from calc.core import add as setUpModule\n{ADD}"),
        (INSIDE, "calc/__init__.py", f"{ADD}\n\nif add:\n    setUpModule = add\n"),
        (INSIDE, "calc/__init__.py", f"{ADD}\n\nglobals()['setUp' + 'Module'] = add\n"),
        (INSIDE, "calc/__init__.py", f"{ADD}\n\ndef a():\n    global setUpModule\n    setUpModule = add\n"),
        (package(STAR), "calc/__init__.py", named("setup_function")),
        (package(STAR), "calc/__init__.py", named("pytest_generate_tests")),
        (
            package(STAR),
            "calc/__init__.py",
            f"{ADD}__all__ = ['add', 'setup_module']\nfrom calc.env import setup_module\n",
        ),
        (package(STAR), "calc/__init__.py", named("abs")),
        (
            package(f"import pytest\n{STAR}\n    pytest.fail()\n"),
            "calc/__init__.py",
            f"{ADD}\n\nclass pytest:\n    pass\n",
        ),
        (PASSED_ON, "calc/core.py", named("setup_module")),
        (package(CASE), "calc/env.py", having("setUp")),
        (package(CASE), "calc/env.py", having("assertEqual")),
        (package(CASE), "calc/env.py", having("run")),
        (package(CASE), "calc/env.py", f"{ENV}\n\nEnv.setUp = print\n"),
        (package(CASE), "calc/env.py", f"{ENV}\n\nsetattr(Env, 'setUp', print)\n"),
        (package(CASE), "calc/env.py", having("setUp").replace("class Env", "class Other") + "\n\nEnv = Other\n"),
        (RENAMED, "calc/core.py", BENT_CORE),
        (DERIVED, "calc/core.py", BENT_CORE),
        (package(PLAIN), "calc/env.py", having("setup_method")),
        (package(PLAIN), "calc/env.py", f"{ENV}    __test__ = False\n"),
    ],
)
def test_what_tests_take_in_has_none_of_it(base: Files, path: str, text: str) -> None:
    issue = told(base, {path: text})
    assert "runner of tests calls by itself" in issue or "takes the place of a name" in issue


@pytest.mark.parametrize(
    ("base", "path", "text"),
    [
        (INSIDE, "calc/core.py", named("setup_module", "setUpModule")),
        (INSIDE, "calc/__init__.py", named("setup", "teardown", "run", "abs")),
        (package("import calc\n"), "calc/__init__.py", named("setup_module")),
        (package("from calc import add\n"), "calc/__init__.py", named("setup_function")),
        (package(STAR), "calc/__init__.py", named("setup", "half", "_setup_module", "sum")),
        (package(STAR, __init__=f"__all__ = ['add']\n{ADD}"), "calc/__init__.py", f"__all__ = ['add']\n{named('abs')}"),
        (package(STAR.replace("*\n", "*\n\n\ndef abs(n):\n    return n\n")), "calc/__init__.py", named("abs")),
        (package(STAR, __init__=named("setup_module")), "calc/__init__.py", named("setup_module", "half")),
        (package(STAR), "calc/env.py", named("setup_module")),
        (package("import calc.env\n"), "calc/env.py", having("setup", "setUp", "tearDown", "run")),
        (package(FAKE), "calc/env.py", having("setup", "setUp", "run", "id", "debug")),
        (package(PLAIN), "calc/env.py", having("run", "id", "fail", "setup")),
        (package(CASE), "calc/env.py", having("setup", "start", "names")),
        (package(CASE), "calc/env.py", f"{ENV}\n\nclass Other:\n    def setUp(self):\n        pass\n"),
        (package(CASE, env=having("setUp")), "calc/env.py", having("setUp", "start")),
        # Libraries for tests
        (
            package(STAR, core="import pytest\n", env="from calc import core\n"),
            "calc/__init__.py",
            named("setup_module"),
        ),
        (
            package(CASE, core="import unittest\n", env=f"from . import core\n{ENV}"),
            "calc/env.py",
            f"from . import core\n{having('setUp')}",
        ),
        # What cannot be read
        (package(CASE), "calc/env.py", "class Env(:\n"),
    ],
)
def test_elsewhere_such_names_are_anybodys(base: Files, path: str, text: str) -> None:
    issue = told(base, {path: text})
    assert "runner of tests calls by itself" not in issue
    assert "takes the place of a name" not in issue
