"""Names that an environment resolves, read from its folders."""

from pathlib import Path

import pytest

from loopwright.adapters.checks.classes.taken_names import (
    module_at,
    names_around,
    names_in_node_modules,
    names_in_site_packages,
)
from loopwright.adapters.checks.started import names_taken
from loopwright.config.settings import CheckSettings
from tests.adapters.checks.classes.held import LINK, classes


def put(folder: Path, path: str, text: str = "") -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text)


def test_names_of_site_packages_are_those_an_import_finds(tmp_path: Path) -> None:
    put(tmp_path, "pluggy/__init__.py")
    put(tmp_path, "six.py")
    put(tmp_path, "_yaml.cpython-311-x86_64-linux-gnu.so")
    put(tmp_path, "x-1.0.dist-info/top_level.txt", "from_top_level\n")
    put(tmp_path, "y-1.0.dist-info/RECORD", "from_record/a.py,,\nalone.py,,\n../../bin/y,,\ny-1.0.dist-info/RECORD,,\n")
    put(tmp_path, "z.egg-info", "a file")
    put(tmp_path, "__pycache__/six.pyc")
    put(tmp_path, "notes.txt")
    expected = {"pluggy", "six", "_yaml", "from_top_level", "from_record", "alone"}
    assert names_in_site_packages(tmp_path) == expected


def test_the_project_itself_is_not_taken_where_it_is_installed_in_place(tmp_path: Path) -> None:
    put(tmp_path, "own-1.0.dist-info/direct_url.json", '{"dir_info": {"editable": true}, "url": "file:///x"}')
    put(tmp_path, "own-1.0.dist-info/top_level.txt", "own\n")
    put(tmp_path, "own/__init__.py")
    put(tmp_path, "other/__init__.py")
    assert names_in_site_packages(tmp_path) == {"other"}


@pytest.mark.parametrize("place", ["", "local/", "versions/3.12.1/", "installs/python/3.12.1/"])
def test_names_are_found_beside_an_interpreter_and_behind_a_shim(tmp_path: Path, place: str) -> None:
    put(tmp_path, f"{place}lib/python3.12/site-packages/six.py")
    assert names_around([tmp_path / "shims" / "python3"]) == {"six"}
    assert names_around([tmp_path / "shims" / "node"]) == frozenset()


@pytest.mark.parametrize(
    ("run", "files"),
    [
        ("make test", {"Makefile": "PYTHON ?= {env}/bin/python3\ntest:\n\t$(PYTHON) -m unittest\n"}),
        ("sh check.sh", {"check.sh": "PYTHONPATH=src env/bin/python3 -m unittest\n"}),
        ("sh check.sh", {"check.sh": "exec python3 -m unittest\n"}),
        ("npm test", {"package.json": '{{"scripts": {{"test": "{env}/bin/python3 -m pytest"}}}}'}),
        ("uv run pytest", {".venv/lib/python3.12/site-packages/six.py": "", ".venv/bin/python": ""}),
    ],
)
def test_what_scripts_and_recipes_start_has_its_names_too(tmp_path: Path, run: str, files: dict[str, str]) -> None:
    put(tmp_path, "env/lib/python3.12/site-packages/six.py")
    put(tmp_path, "env/bin/python3")
    (tmp_path / "env/bin/python3").chmod(0o755)
    for path, text in files.items():
        put(tmp_path, path, text.format(env=tmp_path / "env"))
    spec = CheckSettings(name="test", run=tuple(run.split()))
    assert "six" in names_taken((spec,), root=tmp_path, environ={"PATH": str(tmp_path / "env/bin")})


def test_a_word_that_is_like_an_interpreter_starts_none(tmp_path: Path) -> None:
    put(tmp_path, "env/lib/python3.12/site-packages/six.py")
    put(tmp_path, "env/bin/python3")
    (tmp_path / "env/bin/python3").chmod(0o755)
    put(tmp_path, "Makefile", "test:\n\tdocker build python3-slim ipython3 x/python3/y\n")
    spec = CheckSettings(name="test", run=("make", "test"))
    assert names_taken((spec,), root=tmp_path, environ={"PATH": str(tmp_path / "env/bin")}) == frozenset()


def test_names_of_node_modules(tmp_path: Path) -> None:
    put(tmp_path, "jest/package.json")
    put(tmp_path, "@scope/tool/package.json")
    put(tmp_path, ".bin/jest")
    assert names_in_node_modules(tmp_path) == {"jest", "@scope/tool"}


def test_a_folder_that_is_not_there_takes_nothing(tmp_path: Path) -> None:
    assert names_in_site_packages(tmp_path / "no") == frozenset()
    assert names_in_node_modules(tmp_path / "no") == frozenset()


def test_a_module_is_found_from_the_first_folder_that_is_no_package() -> None:
    tracked = frozenset({"src/a/__init__.py", "src/a/b/__init__.py"})
    assert module_at("src/a/b/c.py", tracked) == ("src", "a")
    assert module_at("src/a/__init__.py", tracked) == ("src", "a")
    assert module_at("a.py", tracked) == ("", "a")
    assert module_at("scripts/x.py", tracked) == ("scripts", "x")
    assert module_at("a.txt", tracked) is None


QA = {
    "src/calc/__init__.py": "",
    "src/parts/other.py": "",
    "qa/test_calc.py": "from helping import same\n",
    "qa/helping.py": "def same(a, b):\n    assert a == b\n",
    "tests/test_parts.py": "import parts.helping\nfrom deep.down import aid\nfrom other.core import x\n",
    "tests/parts/helping.py": "",
    "tests/deep/down/aid.py": "",
    "tests/unused.py": "",
    "tests/other/test_core.py": "",
    "pytest.ini": "[pytest]\npythonpath = src tests qa\n",
}


@pytest.mark.parametrize(
    ("path", "hidden"),
    [
        ("src/helping.py", "qa/helping.py"),
        ("src/helping/__init__.py", "qa/helping.py"),
        ("src/parts/helping.py", "tests/parts/helping.py"),
        ("src/parts/__init__.py", "tests/parts/helping.py"),
        ("src/deep.py", "tests/deep/down/aid.py"),
        ("src/deep/down/__init__.py", "tests/deep/down/aid.py"),
        ("src/parts/more.py", ""),
        ("src/calc/helping.py", ""),
        ("src/calc/parts/helping.py", ""),
        ("src/other/__init__.py", ""),
        ("src/other/core.py", ""),
        ("src/deep/up.py", ""),
    ],
)
def test_a_new_module_takes_no_name_that_tests_import_from_their_own_folders(path: str, hidden: str) -> None:
    found = classes(QA, {path: "x = 1\n"}, ("python", "-m", "pytest"))[path]
    assert (found.kind, found.why) == (("judge", f"its name is taken: {hidden}") if hidden else ("product", ""))


def test_a_link_takes_such_a_name_too() -> None:
    found = classes(QA, {"src/helping": "calc"}, ("python", "-m", "pytest"), modes={"src/helping": LINK})["src/helping"]
    assert found.why == "its name is taken: qa/helping.py"


@pytest.mark.parametrize(
    ("line", "path", "hidden"),
    [
        ("sys.path.append(str(pathlib.Path(__file__).parent / 'qa' / 'aids'))", "same.py", "qa/aids/same.py"),
        ("AIDS = os.path.join(HERE, 'qa/aids')\nsys.path += [AIDS]", "same/__init__.py", "qa/aids/same.py"),
        ("site.addsitedir('qa/aids')", "same.py", "qa/aids/same.py"),
        ("sys.path.append('qa/aids')", "calc/same.py", ""),
        ("AIDS = 'qa/aids'", "same.py", ""),
    ],
)
def test_what_a_set_up_puts_on_the_path_has_names_of_its_own(line: str, path: str, hidden: str) -> None:
    base = {
        "calc/__init__.py": "",
        "more.py": "",
        "qa/aids/same.py": "",
        "conftest.py": line,
        "tests/test_calc.py": "import same\n",
    }
    found = classes(base, {path: "x = 1\n"}, ("python", "-m", "pytest"))[path]
    assert (found.kind, found.why) == (("judge", f"its name is taken: {hidden}") if hidden else ("product", found.why))
