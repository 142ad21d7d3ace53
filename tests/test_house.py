"""The walls of the house. Each wall is seen red on a bad sample, then the project is held to it."""

import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

import loopwright
from loopwright.app import kinds
from loopwright.app.kinds import KINDS
from loopwright.cli.main import COMMANDS
from tests import house

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src"
PACKAGE = SRC / "loopwright"

pytestmark = pytest.mark.unmeasured  # runs nothing of ours

FILE_WALL, FUNCTION_WALL, SHORT_FUNCTION = 600, 50, 30
SHORT_SHARE = 0.95
LARGEST = 400_000  # bytes of a file
FETCHED = (".whl", ".gz", ".tgz", ".jar", ".so", ".pyc")
ROOMS = frozenset(path.parent.name for path in (PACKAGE / "loops").glob("*/kind.py"))
# The table of kinds, what the start of a loop needs of the disk, its command, its table of the configuration, and the
# hook, which imports nothing of ours and so knows the folder of one loop's tasks itself.
MAY_NAME_ROOMS = (
    "loopwright/app/kinds.py",
    "loopwright/app/starts/",
    "loopwright/cli/loops/",
    "loopwright/config/settings.py",
    "loopwright/config/systems.py",
    "loopwright/hook.py",
)
OTHER_MEANINGS = {
    "loopwright/loops/batch/state.py",  # the kind of its children: nesting is data
    "loopwright/loops/batch/kind.py",  # whose limits are its own
    "loopwright/loops/parts.py",  # the kind that parts are made in where nothing else is said, likewise
}
# Our programs, and the suites that tests inherit.
LOADED = (
    "loopwright.__main__",
    "loopwright.adapters.supervisor",
    "loopwright.adapters.tools.",
    "loopwright.cli.main",
    "loopwright.testing.",
)
PURE_LAYERS = ("errors.py", "config/", "kernel/", "loops/", "ports/", "engine/")
# The hook answers in a person's own session, which a defect of ours must not hold; see decision 014.
MAY_CATCH_EVERYTHING = ("loopwright/engine/", "loopwright/cli/main.py", "loopwright/hook.py")
PROGRAMS = (  # each a process of its own, or a part of one that is not ours
    "loopwright/adapters/tools/review.py",
    "loopwright/adapters/tools/autofix.py",
    "loopwright/adapters/checks/trial_phases.py",
)
MAY_READ_ENVIRONMENT = ("loopwright/cli/", "loopwright/api.py", "loopwright/hook.py", *PROGRAMS)  # the doors


@cache
def sources() -> dict[str, str]:
    return {file.relative_to(SRC).as_posix(): file.read_text() for file in sorted(PACKAGE.rglob("*.py"))}


@cache
def sources_of_tests() -> dict[str, str]:
    return {f.relative_to(ROOT).as_posix(): f.read_text() for f in sorted((ROOT / "tests").rglob("*.py"))}


def read(name: str) -> str:
    return (ROOT / name).read_text()


def pyproject() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(read("pyproject.toml"))


def optional() -> list[str]:
    groups: dict[str, list[str]] = tomllib.loads(read("pyproject.toml"))["project"]["optional-dependencies"]
    return [requirement for group in groups.values() for requirement in group]


# Size


def test_a_function_is_measured_from_def_to_its_last_line() -> None:
    sample = "@cache\ndef f():\n    x = 1\n    return x\n\nasync def g(): ...\n"
    assert house.function_lengths(sample) == {"f:2": 3, "g:6": 1}


def test_the_share_of_short_functions() -> None:
    assert house.share_within([10, 30, 31, 50], 30) == 0.5
    assert house.share_within([], 30) == 1.0


def test_a_file_that_is_too_long_is_found() -> None:
    samples = {"p/a.py": "x = 1\n" * 3, "p/b.py": "x = 1\n" * 2, "tests/a.py": "x = 1\n" * 3, "tests/b.py": "\n" * 4}
    assert house.too_long(samples, 2, 3) == {"p/a.py": 3, "tests/b.py": 4}


def test_no_file_is_longer_than_the_wall() -> None:
    assert house.too_long(sources() | sources_of_tests(), FILE_WALL, FILE_WALL) == {}


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="what is tracked is known to git alone")
def test_nothing_that_was_built_or_fetched_is_tracked() -> None:
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    there = [ROOT / name for name in tracked.split("\0") if name and (ROOT / name).is_file()]
    assert [file.name for file in there if file.suffix in FETCHED or file.stat().st_size > LARGEST] == []


def test_no_function_is_longer_than_the_wall() -> None:
    found = {
        f"{path}:{name}": length
        for path, text in (sources() | sources_of_tests()).items()
        for name, length in house.function_lengths(text).items()
        if length > FUNCTION_WALL
    }
    assert found == {}


def test_nearly_all_functions_are_short() -> None:
    lengths = [length for text in sources().values() for length in house.function_lengths(text).values()]
    assert house.share_within(lengths, SHORT_FUNCTION) >= SHORT_SHARE


def test_the_public_door_is_short_and_the_other_doors_are_empty() -> None:
    doors = {path: text for path, text in sources().items() if path.endswith("__init__.py")}
    assert len(doors.pop("loopwright/__init__.py").splitlines()) <= 40
    assert [path for path, text in doors.items() if text] == []


def test_opening_the_public_door_loads_nothing_behind_it() -> None:
    program = "import loopwright, sys; print([name for name in sys.modules if name.startswith('loopwright.')])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_public_door_shows_its_names_and_no_others() -> None:
    assert {"Feedback", "Quality", "Tickets"} <= set(kinds.__all__)
    assert dir(loopwright) == sorted(["Check", "Outcome", *kinds.__all__, "__version__", "run"])
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        loopwright.nothing  # noqa: B018 - the access is the test


# Names


@pytest.mark.parametrize("path", ["loopwright/utils.py", "loopwright/common/text.py", "loopwright/store_manager.py"])
def test_a_name_without_a_concept_is_found(path: str) -> None:
    assert len(house.banned_names(path)) == 1


def test_a_name_that_only_contains_a_banned_one_is_fine() -> None:
    assert house.banned_names("loopwright/database.py") == []


def test_every_module_is_named_after_its_concept() -> None:
    assert [path for path in sources() | sources_of_tests() if house.banned_names(path)] == []


# Rooms


def test_a_module_that_nobody_imports_is_found() -> None:
    samples = {"p/__init__.py": "", "p/q/__init__.py": "", "p/a.py": "import p.b\n", "p/b.py": "x = 1\n"}
    assert house.orphans(samples) == ["p.a"]


def test_every_module_is_imported_by_another_or_loaded_by_its_name() -> None:
    commands = {f"loopwright.cli.{module}" for module, _ in COMMANDS.values()}
    porches = {module for kind in KINDS.values() for module in (*kind.porch, kind.sessions)}
    pages = {f"loopwright.loops.{room}.page" for room in ROOMS}
    orphans = set(house.orphans(sources()))
    assert {module for module in orphans if not module.startswith(LOADED)} == (commands | porches | pages) & orphans


@pytest.mark.parametrize(
    "line",
    [
        "from loopwright.loops.quality.state import X",
        "from loopwright.loops import quality",
        "import loopwright.loops.quality.state",
        "importlib.import_module('loopwright.loops.quality.state')",
        "x = 'quality'",
        "x = f'.loop/quality/{loop}/file.md'",
        "from loopwright.app.starts.quality import X",
    ],
)
def test_a_room_that_is_named_is_found(line: str) -> None:
    assert house.rooms_named(line + "\n", ROOMS) == {"quality"}
    assert house.rooms_named("quality = 1\nfrom loopwright.loops import course\n'of quality.'\n", ROOMS) == set()


def test_a_porch_that_is_named_is_found() -> None:
    assert house.porches_named("from loopwright.app.starts.review import X\n") == {"review"}
    assert house.porches_named("from loopwright.app.starts.door import X\n") == set()


def test_every_folder_of_the_loops_is_a_room() -> None:
    folders = {path.parent.name for path in (PACKAGE / "loops").glob("*/__init__.py")}
    assert {"batch", "feedback", "quality", "tickets"} <= ROOMS == folders


def test_no_loop_is_known_by_name_outside_its_room() -> None:
    found = {path: house.rooms_named(text, ROOMS) | house.porches_named(text) for path, text in sources().items()}
    named = {
        path: names
        for path, names in found.items()
        if names - {path.split("/")[2] if path.startswith("loopwright/loops/") else ""}
        and not path.startswith(MAY_NAME_ROOMS)
        and path not in OTHER_MEANINGS
    }
    assert named == {}


# Imports


def test_a_cycle_is_found_inside_a_function_and_under_type_checking() -> None:
    samples = {
        "p/__init__.py": "",
        "p/a.py": "def f():\n    from p import b\n",
        "p/b.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.c import C\n",
        "p/c.py": "import p.a\nclass C: ...\n",
        "p/d.py": "import p.a\nimport os\n",
    }
    assert house.find_cycle(house.import_graph(samples)) == ["p.a", "p.b", "p.c", "p.a"]


def test_a_graph_without_a_cycle_has_none() -> None:
    assert house.find_cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_no_module_takes_part_in_a_cycle() -> None:
    assert house.find_cycle(house.import_graph(sources())) == []


def test_a_third_party_import_is_found() -> None:
    sample = "import os.path\nimport loopwright.errors\ndef f():\n    from rich.live import Live\n"
    assert house.outside_stdlib(sample, frozenset({"loopwright"})) == ["rich"]
    assert house.outside_stdlib(sample) == ["loopwright", "rich"]


def test_nothing_below_the_adapters_needs_a_third_party() -> None:
    below = {p: t for p, t in sources().items() if p.removeprefix("loopwright/").startswith(PURE_LAYERS)}
    found = {path: house.outside_stdlib(text, frozenset({"loopwright"})) for path, text in below.items()}
    assert {path: names for path, names in found.items() if names} == {}


def test_the_hook_needs_only_the_standard_library() -> None:
    assert house.outside_stdlib(sources().get("loopwright/hook.py", "")) == []


# Habits


@pytest.mark.parametrize(
    "clause",
    ["except Exception:", "except:", "except (ValueError, Exception) as e:", "except builtins.BaseException:"],
)
def test_catching_everything_is_found(clause: str) -> None:
    assert house.broad_excepts(f"try:\n    f()\n{clause}\n    pass\n") == [3]


def test_suppressing_everything_is_found() -> None:
    assert house.broad_excepts("with contextlib.suppress(Exception):\n    f()\n") == [1]
    assert house.broad_excepts("try:\n    f()\nexcept (OSError, ExceptionGroup):\n    pass\n") == []


def test_only_the_task_boundary_and_the_command_line_catch_everything() -> None:
    others = {path: text for path, text in sources().items() if not path.startswith(MAY_CATCH_EVERYTHING)}
    assert {path: lines for path, text in others.items() if (lines := house.broad_excepts(text))} == {}


@pytest.mark.parametrize("line", ["os.environ['A']", "x = os.getenv('A')", "from os import environ"])
def test_a_read_of_the_environment_is_found(line: str) -> None:
    assert house.environment_reads(f"import os\n{line}\n") == [2]


def test_a_word_that_only_looks_like_the_environment_is_fine() -> None:
    assert house.environment_reads("step.environ\nos.getcwd()\nenviron = {}\n") == []


def test_only_the_command_line_reads_the_environment() -> None:
    below = {path: text for path, text in sources().items() if not path.startswith(MAY_READ_ENVIRONMENT)}
    assert {path for path, text in below.items() if house.environment_reads(text)} == set()


@pytest.mark.parametrize("call", ["run('a', shell=True)", "Popen(a, shell=flag)", "create_subprocess_shell('a')"])
def test_a_shell_is_found(call: str) -> None:
    assert house.shell_lines(f"{call}\nrun(['a'], shell=False)\n") == [1]


def test_no_shell_anywhere() -> None:
    assert {
        path: lines for path, text in (sources() | sources_of_tests()).items() if (lines := house.shell_lines(text))
    } == {}


@pytest.mark.parametrize("call", ["json.dumps(a)", "print(json.dumps({**a, **b}))", "json.dump(a, sys.stdout)"])
def test_data_that_is_made_json_is_found(call: str) -> None:
    assert house.json_writers(f"import json\n{call}\njson.loads(a)\n") == [2]


def test_one_function_of_the_command_line_prints_json() -> None:
    """It takes dataclasses only, which the type checker sees; `test_schemas.py` sees that each has its schema."""
    doors = {path: house.json_writers(text) for path, text in sources().items() if path.startswith("loopwright/cli/")}
    found = {path: lines for path, lines in doors.items() if lines}
    assert {path: len(lines) for path, lines in found.items()} == {
        "loopwright/cli/output.py": 1,
        "loopwright/cli/sample.py": 1,  # a path, in the quotes of a TOML file
    }


@pytest.mark.parametrize("sql", ["f'SELECT {x}'", "'SELECT ' + x", "'SELECT %s' % x", "'SELECT {}'.format(x)"])
def test_sql_put_together_from_values_is_found(sql: str) -> None:
    assert house.made_up_sql(f"db.execute({sql})\ndb.execute('SELECT ?', (x,))\n") == [1]


def test_no_sql_is_put_together_from_values() -> None:
    assert {path: lines for path, text in sources().items() if (lines := house.made_up_sql(text))} == {}


# Pages


def test_commands_and_recipes_are_read_from_their_files() -> None:
    justfile = "set x := true\nworkers := '2'\n# note: this\ncheck: lint types\ntest *args:\n    pytest\n@fmt:\n"
    page = "Run `./run test -k a`, then:\n\n    ./run nothing\n$ ./run check\n`./run <recipe>` `./run --list`\n"
    assert house.recipes(justfile) == {"check", "test", "fmt"}
    assert house.run_commands(page) == ["test", "nothing", "check"]


@pytest.mark.parametrize("page", ["AGENTS.md", "CONTRIBUTING.md", "README.md", ".ci/run", ".pre-commit-config.yaml"])
def test_every_command_on_a_page_is_a_recipe(page: str) -> None:
    commands = house.run_commands(read(page).replace("entry: ", "").replace("exec ", "\n"))
    assert commands
    assert set(commands) <= house.recipes(read("justfile"))


def test_the_readme_begins_with_the_demo_and_the_check_that_ci_runs() -> None:
    assert house.run_commands(read("README.md"))[:2] == ["demo", "check"]
    assert read(".ci/run").rstrip().endswith("&& exec ./run check")


def test_agents_md_fits_on_a_page() -> None:
    assert len(read("AGENTS.md").splitlines()) < 80


def test_the_places_on_a_map_are_read_row_by_row() -> None:
    sample = "| package | owns |\n|---|---|\n| `a/`, `b.py` | `c/` (git), `run` and `a/d.py` |\n| `e.py` | `f.py` |\n"
    assert house.places_on(sample + "\n`not/` a row\n") == ["a/", "b.py", "a/c/", "a/d.py", "e.py", "f.py"]


def test_the_map_names_every_package_and_nothing_that_is_not_there() -> None:
    places = house.places_on(read("AGENTS.md"))
    assert [place for place in places if not (PACKAGE / place).exists()] == []
    there = {f"{path.name}/" for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert there - set(places) == set()


@pytest.mark.parametrize("requirement", ["Apsw>=3.51", "apsw [x] ; python_version > '3'", "apsw"])
def test_the_name_of_a_dependency(requirement: str) -> None:
    assert house.dependency_name(requirement) == "apsw"


def test_every_dependency_has_its_reason() -> None:
    project = pyproject()
    wanted = [*project["project"]["dependencies"], *optional(), *project["dependency-groups"]["dev"]]
    page = read("docs/decisions/002-dependencies.md")
    assert [name for name in map(house.dependency_name, wanted) if f"`{name}`" not in page] == []


def test_the_lock_file_knows_every_dependency() -> None:
    (own,) = (package for package in tomllib.loads(read("uv.lock"))["package"] if package["name"] == "loopwright")
    locked = [*own["metadata"]["requires-dist"], *own["metadata"]["requires-dev"]["dev"]]
    project = pyproject()
    wanted = [*project["project"]["dependencies"], *optional(), *project["dependency-groups"]["dev"]]
    assert sorted(r["name"] + r.get("specifier", "") for r in locked) == sorted(wanted)
