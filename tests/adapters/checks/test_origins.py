"""Where the project's own packages lie, and where an interpreter really finds them."""

import asyncio
import sys
import venv
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.adapters.checks.local_installs import installed_from
from loopwright.adapters.checks.origins import origins, refuse_elsewhere
from loopwright.adapters.checks.python_roots import own_names, python_path, roots
from loopwright.config.settings import CheckSettings
from loopwright.errors import PackageElsewhere
from tests.adapters.checks.projects import UNITTEST, Project, project


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


PACKAGE = {"lib/py/pkg/__init__.py": ""}


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"src/pkg/__init__.py": "", "tests/__init__.py": ""}, ("src",)),
        ({"pkg/__init__.py": "", "tests/__init__.py": ""}, (".",)),
        ({"module.py": "", "setup.py": "", "conftest.py": ""}, (".",)),
        ({"src/main.c": "", "pkg/__init__.py": ""}, (".",)),
        ({"src/__init__.py": "", "src/a.py": ""}, (".",)),
        ({"src/space/pkg/__init__.py": ""}, ("src",)),
        ({"tests/__init__.py": "", "docs/conf.py": "", "setup.py": ""}, ()),
        ({"package.json": "{}", "index.js": ""}, ()),
        ({**PACKAGE, "pyproject.toml": '[tool.setuptools.package-dir]\n"" = "lib/py"\n'}, ("lib/py",)),
        ({**PACKAGE, "pyproject.toml": '[tool.setuptools.packages.find]\nwhere = ["lib/py"]\n'}, ("lib/py",)),
        (
            {**PACKAGE, "pyproject.toml": '[tool.poetry]\npackages = [{include = "pkg", from = "lib/py"}]\n'},
            ("lib/py",),
        ),
        ({**PACKAGE, "pyproject.toml": '[tool.hatch.build.targets.wheel]\npackages = ["lib/py/pkg"]\n'}, ("lib/py",)),
        ({**PACKAGE, "pyproject.toml": '[tool.hatch.build]\nsources = ["lib/py"]\n'}, ("lib/py",)),
        ({**PACKAGE, "pyproject.toml": '[tool.pdm.build]\npackage-dir = "lib/py"\n'}, ("lib/py",)),
        ({**PACKAGE, "pyproject.toml": '[tool.maturin]\npython-source = "lib/py"\n'}, ("lib/py",)),
        ({**PACKAGE, "pyproject.toml": '[tool.uv.build-backend]\nmodule-root = "lib/py"\n'}, ("lib/py",)),
        ({**PACKAGE, "setup.cfg": "[options]\npackage_dir =\n    = lib/py\n"}, ("lib/py",)),
        ({**PACKAGE, "setup.cfg": "[options.packages.find]\nwhere = lib/py\n"}, ("lib/py",)),
        ({**PACKAGE, "setup.py": "setup(package_dir={'': 'lib/py'})\n"}, ("lib/py",)),
        ({**PACKAGE, "setup.py": "setup(packages=find_packages(where='lib/py'))\n"}, ("lib/py",)),
        ({"pkg/__init__.py": "", "pyproject.toml": '[tool.hatch.build.targets.wheel]\npackages = ["pkg"]\n'}, (".",)),
        (
            {
                "pyproject.toml": '[tool.uv.workspace]\nmembers = ["packages/*"]\n',
                "packages/a/src/a/__init__.py": "",
                "packages/b/b/__init__.py": "",
            },
            ("packages/a/src", "packages/b"),
        ),
        ({"src/pkg/__init__.py": "", "pyproject.toml": "not toml", "setup.cfg": "nor this"}, ("src",)),
        ({"src/pkg/__init__.py": "", "setup.py": "setup(package_dir={'': '../elsewhere'})\n"}, ("src",)),
    ],
)
def test_the_roots_are_where_the_project_says(tmp_path: Path, files: dict[str, str], found: tuple[str, ...]) -> None:
    write(tmp_path, files)
    assert tuple(each.relative_to(tmp_path).as_posix() for each in roots(tmp_path)) == found


def test_the_path_is_a_variable_only_where_there_is_python(tmp_path: Path) -> None:
    assert python_path(tmp_path) == {}
    write(tmp_path, {"src/pkg/__init__.py": "", "src/pkg_info.egg-info/x": ""})
    assert python_path(tmp_path) == {"PYTHONPATH": f"{tmp_path}/src"}
    assert own_names(tmp_path / "src") == ("pkg",)
    write(tmp_path, {"src/unittest.py": ""})
    assert python_path(tmp_path) == {}  # or it would stand in for the runner's own


# Where an interpreter finds them

ONE = "def one():\n    return 1\n"
HOOK = """
import sys, importlib.util
class Finder:
    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_file_location(name, "{0}/pkg/__init__.py") if name == "pkg" else None
sys.meta_path.insert({1}, Finder())
"""


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the person's tree beside it."""
    place = tmp_path_factory.mktemp("person")
    venv.create(place / "venv", symlinks=True)
    return write(place, {"tree/src/pkg/__init__.py": ONE})


def install(person: Path, text: str, hook: str = "") -> Path:
    packages = next((person / "venv/lib").glob("python*/site-packages"))
    (packages / "editable_hook.py").write_text(hook)
    (packages / "editable.pth").write_text(text)
    return person / "venv/bin/python"


def elsewhere(checkout: Path, *argv: object, path: str = "") -> dict[str, str]:
    found = asyncio.run(origins(tuple(map(str, argv)), {"PATH": path}, checkout))
    return {each.package: each.place for each in found.certain}


@pytest.mark.parametrize("end", ["path", "appended hook"])
def test_an_editable_installation_of_the_persons_tree_does_not_win(person: Path, tmp_path: Path, end: str) -> None:
    source = f"{person}/tree/src"
    hooked = ("import editable_hook\n", HOOK.format(source, "len(sys.meta_path)"))
    python = install(person, *((f"{source}\n", "") if end == "path" else hooked))
    write(tmp_path, {"src/pkg/__init__.py": ""})
    assert elsewhere(tmp_path, python, "-m", "pytest") == {}


def test_broken_code_is_red_though_the_persons_own_tree_is_installed(person: Path, tmp_path: Path) -> None:
    calling = "import pkg, unittest\n\n\nclass T(unittest.TestCase):\n    def test_one(self):\n        pkg.one()\n"
    python = install(person, f"{person}/tree/src\n")
    check = replace(UNITTEST, run=(str(python), *UNITTEST.run[1:]))
    files = {"src/pkg/__init__.py": ONE, "tests/test_a.py": calling}
    made = project(tmp_path, files, [check])
    assert asyncio.run(made.only(made.candidate({"src/pkg/other.py": ""}))).passed
    broken = asyncio.run(made.only(made.candidate({"src/pkg/__init__.py": "def two():\n    return 1\n"})))
    assert not broken.passed


def test_a_hook_that_goes_first_is_refused_with_the_place_and_what_to_do(person: Path, tmp_path: Path) -> None:
    python = install(person, "import editable_hook\n", HOOK.format(f"{person}/tree/src", 0))
    write(tmp_path, {"src/pkg/__init__.py": ""})
    place = f"{person}/tree/src/pkg/__init__.py"
    spec = CheckSettings(name="test", run=(str(python), "-m", "pytest"))
    with pytest.raises(
        PackageElsewhere, match=r"would not test the candidate: it takes 'pkg' from .*; uninstall or unlink it"
    ) as refused:
        refuse_elsewhere(spec, asyncio.run(origins(spec.run, {"PATH": ""}, tmp_path)))
    assert (refused.value.package, refused.value.place, refused.value.exit_code) == ("pkg", place, 2)
    script = write(tmp_path, {"bin/pytest": f"#!{python}\n"}) / "bin/pytest"
    assert elsewhere(tmp_path, script) == {"pkg": place}


def test_nobody_is_asked_where_the_command_names_no_interpreter(tmp_path: Path) -> None:
    write(tmp_path, {"src/pkg/__init__.py": "", "bin/make": "#!/bin/sh\n", "bin/python3": "#!/bin/sh\necho nothing\n"})
    for program in ("make", "python3"):
        (tmp_path / "bin" / program).chmod(0o755)
    path = f"{tmp_path}/bin"
    assert elsewhere(tmp_path, "make", "test", path=path) == {}
    assert elsewhere(tmp_path, "nothing", path=path) == {}
    assert elsewhere(tmp_path, f"{path}/python3", "-m", "pytest", path=path) == {}
    assert elsewhere(tmp_path, f"{path}/python3.99", "-m", "pytest", path=path) == {}
    assert elsewhere(tmp_path / "bin", sys.executable, "-m", "pytest") == {}


def test_a_file_of_the_candidate_answers_nothing(person: Path, tmp_path: Path) -> None:
    python = install(person, "import editable_hook\n", HOOK.format(f"{person}/tree/src", 0))
    forged = "print('{}'); raise SystemExit\n"
    write(tmp_path, {"pkg/__init__.py": "", "json.py": forged, "importlib/__init__.py": forged})
    assert elsewhere(tmp_path, python, "-m", "pytest").keys() == {"pkg"}


# Several projects in one repository

INNER = {"libs/bb/pyproject.toml": '[project]\nname = "bb"\n', "libs/bb/bb/__init__.py": ONE, "aa/__init__.py": ONE}


def placed(person: Path, name: str, text: str) -> Path:
    packages = next((person / "venv/lib").glob("python*/site-packages"))
    install(person, "")
    write(packages, {name: text})
    return packages


def far(checkout: Path, person: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is certain to come from elsewhere, and what may."""
    found = asyncio.run(origins((f"{person}/venv/bin/python", "-m", "pytest"), {"PATH": ""}, checkout))
    return tuple(each.package for each in found.certain), tuple(each.path for each in found.doubtful)


@pytest.fixture
def another(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("another")
    venv.create(place / "venv", symlinks=True)
    return place


@pytest.mark.parametrize("editable", ["true", "false"])
def test_a_project_below_that_is_installed_goes_first_whichever_clone_it_came_from(
    another: Path, tmp_path: Path, editable: str
) -> None:
    write(tmp_path, INNER)
    write(another / "tree", INNER)
    told = f'{{"url": "file://{another}/tree/libs/bb", "dir_info": {{"editable": {editable}}}}}'
    packages = placed(another, "bb-1.dist-info/direct_url.json", told)
    write(packages, {"bb.pth": f"{another}/tree/libs/bb\n"} if editable == "true" else {"bb/__init__.py": ONE})
    assert far(tmp_path, another) == ((), ())
    python = (f"{another}/venv/bin/python",)
    assert python_path(tmp_path, installed_from(python, {}, None)) == {"PYTHONPATH": f"{tmp_path}:{tmp_path}/libs/bb"}
    recipe = installed_from(("make", "test"), {}, another, ["test:\n\tvenv/bin/python -m pytest\n"])
    assert f"{another}/tree/libs/bb" in recipe


@pytest.mark.parametrize(
    ("files", "installed", "expected"),
    [
        # A copy that nobody knows the origin of may be one of this project.
        (INNER, "bb/__init__.py", ((), ("libs/bb/bb",))),
        ({"libs/bb/setup.py": "", "libs/bb/src/bb/core.py": ONE}, "bb/core.py", ((), ("libs/bb/src/bb/core.py",))),
        ({"b/setup.py": "", "b/src/bb/one/__init__.py": ONE}, "bb/one/__init__.py", ((), ("b/src/bb/one",))),
        ({"b/setup.py": "", "b/single.py": ONE}, "single.py", ((), ("b/single.py",))),
        # What others have made under a name of a folder here.
        ({"pkg/__init__.py": "", "pkg/_vendor/bb/__init__.py": ""}, "bb/__init__.py", ((), ())),
        ({"src/pkg/__init__.py": "", "scripts/bb.py": ""}, "bb.py", ((), ())),
        ({"pyproject.toml": "", "src/pkg/__init__.py": "", "docs/bb/__init__.py": ""}, "bb/__init__.py", ((), ())),
        ({"examples/one/utils.py": ""}, "utils.py", ((), ())),
        ({"b/setup.py": "", "b/bb/__init__.py": ""}, "cc/__init__.py", ((), ())),  # nobody installs it
        ({"b/setup.py": "", "b/json/__init__.py": ""}, "cc/__init__.py", ((), ())),
        ({"b/setup.py": "", "b/b-b/__init__.py": ""}, "cc/__init__.py", ((), ())),
    ],
)
def test_a_package_below_that_comes_from_elsewhere_is_named(
    another: Path, tmp_path: Path, files: dict[str, str], installed: str, expected: object
) -> None:
    placed(another, installed, "")
    assert far(write(tmp_path, files), another) == expected


CALLING = (
    "import {0}, unittest\n\n\nclass T(unittest.TestCase):\n    def test_one(self):\n"
    "        self.assertEqual({0}.one(), 1)\n"
)


def project_with_copy(another: Path, tmp_path: Path) -> Project:
    """Two packages with tests, where the check finds a copy of one of them elsewhere."""
    placed(another, "bb/__init__.py", ONE)
    check = replace(UNITTEST, run=(f"{another}/venv/bin/python", *UNITTEST.run[1:]))
    tests = {f"tests/test_{name}.py": CALLING.format(name) for name in ("aa", "bb")}
    return project(tmp_path, {**INNER, **tests}, [check])


def test_a_change_of_a_package_that_comes_from_elsewhere_is_unread(another: Path, tmp_path: Path) -> None:
    """There is no other code, so that nothing of the tree is read."""
    made = project_with_copy(another, tmp_path)
    alone = replace(made, base=made.candidate({"aa/__init__.py": None, "tests/test_aa.py": None}))
    canary = asyncio.run(alone.report(alone.candidate({"libs/bb/bb/__init__.py": ONE.replace("1", "2")}))).canary
    assert canary is not None
    assert (canary.said, canary.missed) == ("unread", ("libs/bb/bb/__init__.py: one",))
    assert f"bb is imported from {another}" in canary.sentence


def test_what_tests_load_by_its_path_is_read_wherever_its_name_leads(another: Path, tmp_path: Path) -> None:
    made = project_with_copy(another, tmp_path)
    loading = f"import sys\nsys.path.insert(0, 'libs/bb')\nsys.modules.pop('bb', None)\n{CALLING.format('bb')}"
    right = ONE.replace("return 1", "return 2 - 1")
    commit = made.candidate({"libs/bb/bb/__init__.py": right, "tests/test_loading.py": loading})
    canary = asyncio.run(made.report(commit)).canary
    assert canary is not None
    assert (canary.said, canary.where) == ("noticed", "landing")


def test_a_copy_of_a_package_below_is_no_proof_though_another_change_is_noticed(another: Path, tmp_path: Path) -> None:
    made = project_with_copy(another, tmp_path)
    assert not asyncio.run(made.report(made.base, preflight=True)).unable
    laid = len(made.checkouts.laid)
    right = ONE.replace("return 1", "return 2 - 1")
    both = made.candidate({"aa/__init__.py": right, "libs/bb/bb/__init__.py": ONE.replace("1", "2")})
    canary = asyncio.run(made.report(both)).canary
    assert canary is not None
    assert (canary.said, canary.missed) == ("unread", ("libs/bb/bb/__init__.py",))
    assert f"bb is imported from {another}" in canary.sentence
    assert len(made.checkouts.laid) == laid + 3  # the run, and two tries: where packages are was asked before
    one = asyncio.run(made.report(made.candidate({"aa/__init__.py": right}))).canary
    assert one is not None
    assert one.said == "noticed"


def test_packages_of_the_persons_tree_that_no_manifest_tells_of_are_refused(another: Path, tmp_path: Path) -> None:
    files = {"libs/bb/__init__.py": ONE, "aa/__init__.py": ONE}
    write(another / "tree", files)
    placed(another, "bb.pth", f"{another}/tree/libs\n")
    assert far(write(tmp_path, files), another) == (("bb",), ())


@pytest.mark.parametrize("text", ["", "[]", "no", '{"url": "https://x.org/bb"}', '{"url": "file://[x"}'])
def test_what_was_installed_from_elsewhere_puts_nothing_first(another: Path, tmp_path: Path, text: str) -> None:
    placed(another, "bb-1.dist-info/direct_url.json", text)
    assert installed_from((f"{another}/venv/bin/python",), {}, None) == ()
    assert python_path(write(tmp_path, INNER), ("/elsewhere/libs/cc", "/")) == {"PYTHONPATH": str(tmp_path)}


# Links of node


def test_links_that_lead_into_the_persons_tree_are_found(tmp_path: Path) -> None:
    package = {
        "package.json": '{"name": "root", "workspaces": ["packages/*"]}',
        "packages/a/package.json": '{"name": "@x/a"}',
    }
    person, checkout = write(tmp_path / "person", package), write(tmp_path / "person/.loop/verify", package)
    links = person / "node_modules/@x"
    links.mkdir(parents=True)
    (links / "a").symlink_to("../../packages/a")
    assert elsewhere(checkout, "npm", "test") == {"@x/a": str(person / "packages/a")}
    (checkout / "node_modules/@x").mkdir(parents=True)
    (checkout / "node_modules/@x/a").symlink_to("../../packages/a")
    assert elsewhere(checkout, "npm", "test") == {}


@pytest.mark.parametrize(
    "text", ['{"name": "self", "exports": "./a.js"}', "[]", "no", '{"name": 3, "workspaces": {"packages": [1]}}']
)
def test_what_is_found_in_its_own_folder_or_names_nothing_is_no_link(tmp_path: Path, text: str) -> None:
    checkout = write(tmp_path / "checkout", {"package.json": text})
    write(tmp_path / "tree", {"package.json": "{}"})
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules/self").symlink_to("../tree")
    assert elsewhere(checkout, "npm", "test") == {}


def test_a_published_copy_of_the_project_itself_is_no_link(tmp_path: Path) -> None:
    checkout = write(tmp_path, {"package.json": '{"name": "self"}', "node_modules/self/package.json": "{}"})
    write(tmp_path, {"above/node_modules/self/package.json": "{}"})
    assert elsewhere(checkout, "npm", "test") == {}
