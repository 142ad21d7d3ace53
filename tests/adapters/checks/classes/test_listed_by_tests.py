"""Data in a package that tests go through, by whatever name the package stands there; and data beside it."""

import pytest

from tests.adapters.checks.classes.held import classes

PYTEST = ("python", "-m", "pytest")
CODE = "def add(a, b):\n    return a + b\n"
BASE = {
    "calc/__init__.py": CODE,
    "calc/core.py": CODE,
    "calc/core.csv": "2,3,5\n",
    "calc/data/__init__.py": "",
    "calc/data/sums.csv": "2,3,5\n",
    "calc/words/list.csv": "a,b\n",
}
LISTED = "for f in files({}).iterdir():\n    read(f)\n"


def kind(path: str, test: str, **also: str) -> str:
    base = {**BASE, "tests/test_calc.py": test, **{f"{name}.py": text for name, text in also.items()}}
    return str(classes(base, {path: "2,3,-1\n"}, PYTEST)[path].kind)


@pytest.mark.parametrize(
    "test",
    [
        LISTED.format("'calc.data'"),
        LISTED.format("calc.data"),
        "from calc import add, data\n\n" + LISTED.format("data"),
        "import calc.data as d\n\n" + LISTED.format("d"),
        "with as_file(files('calc.data')) as folder:\n    for f in folder.iterdir():\n        read(f)\n",
        "NAMES = contents('calc.data')\n",
        "for n in resource_listdir('calc.data', ''):\n    read(n)\n",
        "for n in os.listdir(os.path.dirname(calc.data.__file__)):\n    read(n)\n",
        "for n in os.listdir(calc.data.__path__[0]):\n    read(n)\n",
        "os.chdir('calc/data')\nNAMES = [n for n in os.listdir() if n.endswith('.csv')]\n",
        "def test_a(monkeypatch):\n    monkeypatch.chdir(ROOT / 'calc' / 'data')\n    all(Path().glob('*.csv'))\n",
        "all(glob.glob('calc/d*/*'))\n",
        "all(glob.glob('../calc/d*/s*.csv'))\n",
    ],
)
def test_a_package_of_data_that_tests_go_through_is_theirs(test: str) -> None:
    assert kind("calc/data/sums.csv", test) == "changed test"
    assert kind("calc/words/list.csv", test) == "product"


def test_a_set_up_goes_through_it_for_them() -> None:
    assert kind("calc/data/sums.csv", "x = 1\n", conftest="CASES = glob.glob('calc/d*/*')\n") == "changed test"


@pytest.mark.parametrize(
    "test",
    [
        "open(Path(calc.core.__file__).with_suffix('.csv'))\n",
        "from calc import core\n\nopen(Path(core.__file__).with_suffix('.csv'))\n",
        "open(os.path.splitext(calc.core.__file__)[0] + '.csv')\n",
        "HERE = Path(calc.core.__file__)\nopen(HERE.with_suffix('.csv'))\n",
        "for f in Path(calc.core.__file__).parent.iterdir():\n    read(f)\n",
    ],
)
def test_data_beside_a_module_under_its_name_is_what_a_test_takes_by_it(test: str) -> None:
    assert kind("calc/core.csv", test) == "changed test"
    assert kind("calc/words/list.csv", test) == "product"


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("calc/data/sums.csv", "from calc import data\n\nassert data.ROWS == 1\n"),
        ("calc/data/sums.csv", "import calc.data\n\nfor f in tmp_path.iterdir():\n    read(f)\n"),
        ("calc/data/sums.csv", "for f in files('calc.words').iterdir():\n    read(f)\n"),
        ("calc/data/sums.csv", "contents = calc.data.rows()\n"),
        ("calc/data/sums.csv", "os.chdir('calc/data')\nassert calc.add(2, 3) == 5\n"),
        ("calc/data/sums.csv", "os.chdir('calc/data')\nfor f in os.listdir('out'):\n    read(f)\n"),
        ("calc/data/sums.csv", "os.chdir(tmp_path)\nfor f in os.listdir():\n    read(f)\n"),
        ("calc/data/sums.csv", "all(glob.glob('*/*.json'))\n"),
        ("calc/core.csv", "open(Path(calc.core.__file__).with_suffix('.json'))\n"),
        ("calc/core.csv", "open(Path(calc.other.__file__).with_suffix('.csv'))\n"),
        ("calc/core.csv", "out = tmp_path / 'a.csv'\nsource = calc.core.__file__\n"),
        ("calc/core.csv", "for f in (Path(calc.core.__file__).parent / 'out').iterdir():\n    read(f)\n"),
    ],
)
def test_what_is_listed_elsewhere_is_not(path: str, test: str) -> None:
    assert kind(path, test) == "product"
