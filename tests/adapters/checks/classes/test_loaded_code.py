"""Folders that are named like texts or examples: what is loaded from them is product, all else stays what it was."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest

from loopwright.adapters.checks.classes.classifier import Classifier
from loopwright.kernel.model import Commit, Tree
from tests.adapters.checks.classes.held import BASE, Held, classes
from tests.adapters.checks.classes.test_cheats import PYTEST

CODE = "def add(a, b):\n    return a + b\n"


def kind_of(path: str, base: dict[str, str], changed: dict[str, str] | None = None) -> str:
    whole = {"calc/__init__.py": CODE, "lib/x.js": "", "tests/test_calc.py": "import calc\n", **base}
    found = classes(whole, {path: f"{whole.get(path, '')}# more\n", **(changed or {})}, PYTEST)[path]
    return str(found.kind)


@pytest.mark.parametrize(
    ("path", "file", "text"),
    [
        ("website/__init__.py", "tests/test_a.py", "import website\n"),
        ("website/sums.py", "tests/test_a.py", "import os, website.sums as sums\n"),
        ("website/sums.py", "tests/test_a.py", "from website import (\n    sums,\n)\n"),
        ("perf/sums.py", "calc/more.py", "from perf.sums import add\n"),
        ("samples/sums.py", "calc/more.py", "from ..samples import sums\n"),
        ("demo/sums.py", "tests/test_a.py", "importlib.import_module('demo.sums')\n"),
        ("demo/__init__.py", "tests/test_a.py", "importlib.import_module('demo')\n"),
        ("demo/__main__.py", "tests/test_a.py", "run([sys.executable, '-m', 'demo'])\n"),
        ("demo/sums.py", "tests/test_a.py", "patch('demo.sums.add')\n"),
        ("documentation/sums.py", "tests/test_a.py", "sys.path.insert(0, 'documentation')\nimport sums\n"),
        ("documentation/sums.py", "conftest.py", "sys.path.insert(0, 'documentation')\nimport sums\n"),
        ("website/calc.js", "tests/a.test.js", "const { add } = require('../website/calc');\n"),
        ("website/index.js", "tests/a.test.js", "import add from '../website';\n"),
        ("website/calc.js", "lib/a.js", "export * from '../website/calc.js';\n"),
        ("samples/calc.h", "lib/a.c", '#include "../samples/calc.h"\n'),
        ("samples/calc.go", "lib/a.go", 'import (\n\t"example.org/calc/samples"\n)\n'),
    ],
)
def test_code_that_tests_or_the_product_load_is_product_however_its_folder_is_named(
    path: str, file: str, text: str
) -> None:
    held = {path: "", "lib/one.c": "", "lib/one.go": ""}
    assert kind_of(path, held) == "text"
    assert kind_of(path, {**held, file: text}) == "product"


@pytest.mark.parametrize(
    "text", ["['samples/run.py', 'x']", "ROOT / 'samples' / 'run.py'", "join(ROOT, 'samples', 'run.py')"]
)
def test_what_a_test_starts_by_its_path_is_not_free(text: str) -> None:
    base = {"samples/run.py": "", "tests/test_a.py": f"run({text})\n"}
    assert kind_of("samples/run.py", base) != "text"


def test_the_whole_package_is_product_and_what_it_loads_itself() -> None:
    base = {
        "website/__init__.py": "from website import pages\n",
        "website/pages.py": "import perf.timing\n",
        "perf/timing.py": "",
        "tests/test_a.py": "import website\n",
    }
    for path in ("website/pages.py", "website/new.py", "perf/timing.py"):
        assert kind_of(path, base) == "product"


@pytest.mark.parametrize(
    ("path", "base"),
    [
        ("docs/conf.py", {"docs/conf.py": "", "docs/gen.py": "", "tests/test_a.py": "from docs import gen\n"}),
        (
            "docs/new.py",
            {"docs/a.md": "", "docs/b.md": "", "docs/gen.py": "", "tests/test_a.py": "from docs import gen\n"},
        ),
        ("examples/utils.py", {"examples/utils.py": "", "tests/utils.py": "", "tests/test_a.py": "import utils\n"}),
        ("examples/requests.py", {"examples/requests.py": "", "calc/more.py": "import requests\n"}),
        ("examples/utils.py", {"examples/utils.py": "", "examples/run.py": "import utils\n"}),
        ("examples/run.py", {"examples/run.py": "", "calc/more.py": "SEE = 'examples/run.py'\n"}),
        ("site/__init__.py", {"site/__init__.py": "", "tests/test_a.py": "import site\n"}),
        ("examples/json.py", {}),
        ("benchmarks/__init__.py", {}),
        ("docs/pytest/one.py", {}),
    ],
)
def test_pages_and_examples_that_nobody_loads_stay_texts(path: str, base: dict[str, str]) -> None:
    assert kind_of(path, base) == "text"


def test_a_file_among_pages_is_product_by_itself() -> None:
    base = {"docs/conf.py": "", "docs/gen.py": "", "tests/test_a.py": "from docs import gen\n"}
    assert kind_of("docs/gen.py", base) == "product"


def test_what_the_change_itself_loads_from_a_new_folder_of_samples_is_product() -> None:
    assert kind_of("samples/sums.py", {}, {"calc/__init__.py": "from samples.sums import add\n"}) == "product"
    assert kind_of("samples/sums.py", {}, {"calc/__init__.py": "import samplers\n"}) == "text"


@pytest.mark.parametrize(
    ("path", "base", "kind"),
    [
        ("samples/__init__.py", {"tests/samples.py": "", "tests/test_a.py": "import samples\n"}, "judge"),
        ("samples/__init__.py", {"src/samples/__init__.py": ""}, "judge"),
        ("samples/__init__.py", {"tests/data/samples.py": ""}, "text"),
        ("docs/tests/one.py", {}, "text"),
    ],
)
def test_a_new_folder_of_samples_takes_no_name_of_tests(path: str, base: dict[str, str], kind: str) -> None:
    assert kind_of(path, base) == kind


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedReads(Held):
    asked: list[str] = field(default_factory=list)

    async def texts(self, commit: Commit | Tree, paths: tuple[str, ...], *, limit: int) -> Mapping[str, str]:
        self.asked.extend(paths)
        return {path: self.base[path] for path in paths if path in self.base}


def test_what_loads_code_is_read_once_for_a_base_however_its_tests_become_known() -> None:
    base = {"calc/__init__.py": CODE, "website/sums.py": "", "tests/test_a.py": "import website.sums\n"}
    source = CountedReads(base=base, candidate=base)
    first = Classifier(source=source, commands=(PYTEST,))
    found = [
        asyncio.run(each.layout(BASE)) for each in (first, replace(first, yielding=frozenset({"tests/test_a.py"})))
    ]
    assert [each.is_product("website/sums.py") for each in found] == [True, True]
    assert source.asked.count("website/sums.py") == 1
