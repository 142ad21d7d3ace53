"""What `verified` rests on, with real runners: the base judges, the candidate is judged, and the rest is a person's."""

import asyncio
import json
import os
import shutil
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent

import pytest

from loopwright.adapters.terminal.prompt import Nobody
from loopwright.app.creation import create_loop, new_id
from loopwright.app.kinds import KINDS
from loopwright.app.project import open_project
from loopwright.app.readiness import make_ready
from loopwright.app.settings import settings_of
from loopwright.app.worlds import build_world
from loopwright.engine.driver import drive
from loopwright.kernel.codec import encode
from loopwright.kernel.model import Commit, Ending, Outcome
from loopwright.kernel.trust import Trust
from loopwright.loops.feedback.state import FeedbackParams
from tests.e2e.scene import ADD, PASSES, PUTS_ADD, TEST_ADD, Scene, ready
from tests.e2e.ticketing import against, creates, new, played, run, says
from tests.interpreter import WARM_PYTHON
from tests.repository import Repository
from tests.toys.anthology import AnthologyParams
from tests.toys.program import TOYS

pytestmark = pytest.mark.sampled("trust")

DONE = "report(summary='done')\n"
RESUME = ("resume", "--unattended", "--json")
TEST = "tests/test_calc.py"


def writes(path: str, text: str) -> str:
    return f"Path({path!r}).write_text({text!r})\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        "Path('calc.py').write_text(Path('calc.py').read_text() + '# adds well\\n')\n",
        "Path('docs').mkdir()\nPath('docs/add.md').write_text('How to add.\\n')\n",
    ],
    ids=["a comment", "a page"],
)
def test_a_comment_or_a_page_is_no_change_for_a_task_about_code(tmp_path: Path, change: str) -> None:
    scene = ready(tmp_path, developer=change + DONE)
    scene.repo.write("calc.py", ADD)
    scene.repo.commit("Add add()")
    said = scene.loop("feedback", "Make add() round", "--unattended", "--json", code=4)
    assert "`--about text`" in said.json["needs"][0]["why"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """A small project as people have it: what it is made of, and the command that tests it."""

    run: tuple[str, ...]
    code: str  # path of the product
    held: str  # what it holds
    test: str  # path of the tests
    tests: str
    more: tuple[str, str]  # a function more, and a test of it
    gives_up: str  # a product whose tests do not run any more

    def scene(self, folder: Path, developer: str, **files: str) -> Scene:
        if not (found := shutil.which(self.run[0])):
            pytest.skip(f"{self.run[0]} is not installed")
        scene = Scene(Repository.create(folder / "repo"), folder / "notes")
        scene.notes.mkdir()
        for path, text in {self.code: self.held, self.test: self.tests, **files}.items():
            scene.repo.write(path, text)
        scene.repo.write("tests/__init__.py", "")
        scene.repo.write(".gitignore", "__pycache__/\n.pytest_cache/\n")
        check = f"[checks.test]\nrun = {json.dumps([found, *self.run[1:]])}\n"
        scene.configure(scene.agent("developer", developer + DONE), scene.agent("reviewer", PASSES), more=check)
        scene.repo.commit("A project")
        return scene


ADDS = "def add(a, b):\n    return a + b\n"
DOUBLES = "\n\ndef double(a):\n    return a * 2\n"
PLAIN = "from calc import add\n\n\ndef test_adds():\n    assert add(2, 3) == 5\n"
GROUNDS = {
    "unittest": Ground(
        run=(*WARM_PYTHON, "-m", "unittest", "discover", "-s", "tests", "-t", "."),
        code="calc.py",
        held=ADDS,
        test=TEST,
        tests=TEST_ADD,
        more=(
            DOUBLES,
            "\n    def test_doubles(self):\n        from calc import double\n\n        assert double(2) == 4\n",
        ),
        gives_up="import unittest\n\nunittest.TestLoader.getTestCaseNames = lambda *_: []\n",
    ),
    "pytest": Ground(
        run=(*WARM_PYTHON, "-m", "pytest", "-q"),
        code="calc.py",
        held=ADDS,
        test=TEST,
        tests=PLAIN,
        more=(DOUBLES, "\n\ndef test_doubles():\n    from calc import double\n\n    assert double(2) == 4\n"),
        gives_up="import pytest\n\npytest.skip('not today', allow_module_level=True)\n",
    ),
    "node": Ground(
        run=("node", "--test"),
        code="calc.js",
        held="exports.add = (a, b) => a + b;\n",
        test="calc.test.js",
        tests="const test = require('node:test');\nconst assert = require('node:assert');\n"
        "const calc = require('./calc');\n\ntest('adds', () => {\n  assert.strictEqual(calc.add(2, 3), 5);\n});\n",
        more=(
            "\nexports.double = (a) => a * 2;\n",
            "\ntest('doubles', () => {\n  assert.strictEqual(calc.double(2), 4);\n});\n",
        ),
        gives_up="process.exit(0);\n",
    ),
}
EVERYWHERE = pytest.mark.parametrize(
    "ground", [pytest.param(GROUNDS[name], id=name, marks=pytest.mark.slow) for name in GROUNDS]
)
UNITTEST = GROUNDS["unittest"]


# --- which tree is judged -----------------------------------------------------------------------------------------


def editable(folder: Path, developer: str) -> Scene:
    """A src layout whose environment is installed in a way that leads back to the person's own tree."""
    scene = Scene(Repository.create(folder / "repo"), folder / "notes")
    scene.notes.mkdir()
    scene.repo.write("src/shop/__init__.py", "def total(prices):\n    return sum(prices)\n")
    scene.repo.write(
        "tests/test_shop.py", "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
    )
    scene.repo.write("pyproject.toml", '[project]\nname = "shop"\nversion = "1"\n')
    scene.repo.write(".gitignore", "__pycache__/\n.pytest_cache/\n.venv/\n")
    check = '[checks.test]\nrun = [".venv/bin/python", "-m", "pytest", "-q"]\n'
    scene.configure(scene.agent("developer", developer + DONE), scene.agent("reviewer", PASSES), more=check)
    scene.repo.commit("A shop")
    venv.create(scene.root / ".venv", symlinks=True)
    (site,) = (scene.root / ".venv" / "lib").glob("python*/site-packages")
    (site / "__editable__.shop-1.pth").write_text(f"{scene.root / 'src'}\n")
    (site / "runner.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return scene


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "passes"),
    [
        ("def total(prices):\n    return 0\n", False),
        (
            "def total(prices):\n    whole = 0\n    for price in prices:\n        whole += price\n    return whole\n",
            True,
        ),
    ],
)
def test_an_editable_install_does_not_let_the_persons_tree_stand_for_the_candidate(
    tmp_path: Path, code: str, *, passes: bool
) -> None:
    scene = editable(tmp_path, writes("src/shop/__init__.py", code))
    before = scene.person()
    said = scene.feedback("--max-iterations", "1", code=0 if passes else 4)
    assert (said["outcome"] == "verified") is passes
    assert scene.person() == before


def test_a_check_that_lies_outside_of_the_tree_is_not_the_agents_to_rewrite(tmp_path: Path) -> None:
    """Nor for the next controller: the log knows what it was."""
    script = tmp_path / "check.sh"
    script.write_text("grep -q a.+.b calc.py\n")
    check = f'[checks.test]\nrun = ["sh", "{script}"]\ntrust = "exit-code"\n'
    rewrites = f"Path({str(script)!r}).write_text('cat calc.py')\nPath('calc.py').write_text('x = 1\\n')\nreport()\n"
    scene = ready(tmp_path, developer=rewrites, more=check)
    for words in (("feedback", "Add add()", "--merge"), ("resume",)):
        said = scene.loop(*words, "--unattended", code=4)
        assert f"{script} was changed" in said.err


@pytest.mark.slow
def test_a_program_that_an_agent_puts_in_front_of_another_is_not_run(tmp_path: Path) -> None:
    """It is named, and nothing that is still there is called gone; the next controller names it, too."""
    early = tmp_path / "early"
    early.mkdir()
    check = '[checks.test]\nrun = ["sh", "-c", "python3 -m unittest"]\ntrust = "exit-code"\n'
    plants = (
        f"shim = Path({str(early)!r}, 'python3')\nshim.write_text('#!/bin/sh\\n')\nshim.chmod(0o755)\n"
        "Path('calc.py').write_text('x = 1\\n')\nreport()\n"
    )
    scene = ready(tmp_path, developer=plants, more=check)
    path = {"PATH": f"{early}{os.pathsep}{os.environ['PATH']}"}
    for words in (("feedback", "Add add()", "--merge"), ("resume",)):
        said = scene.loop(*words, "--unattended", code=4, env=path)
        assert f"{early}/python3 is found in place of " in said.err
        assert "is gone" not in said.err


# --- what asks nobody -----------------------------------------------------------------------------------------------


@EVERYWHERE
def test_a_feature_with_a_test_appended_lands_at_once(tmp_path: Path, ground: Ground) -> None:
    code, test = ground.more
    scene = ground.scene(tmp_path, writes(ground.code, ground.held + code) + writes(ground.test, ground.tests + test))
    said = scene.feedback("--merge", task="Double a number")
    assert (said["outcome"], said["iterations"], said["merged_into"]) == ("verified", 1, "main")
    assert (said["held_back"], said["needs"]) == ([], [])
    assert scene.file_at("main", ground.test) == (ground.tests + test).rstrip()


MANIFEST = '[project]\nname = "calc"\nversion = "1"\n'
NEEDS_MORE = '[project]\nname = "calc"\nversion = "1"\ndependencies = ["calculus"]\n'


@pytest.mark.slow
def test_a_manifest_that_is_not_needed_is_held_back(tmp_path: Path) -> None:
    code, test = UNITTEST.more
    changes = writes("calc.py", ADDS + code) + writes(TEST, TEST_ADD + test) + writes("pyproject.toml", NEEDS_MORE)
    scene = UNITTEST.scene(tmp_path, changes, **{"pyproject.toml": MANIFEST})
    said = scene.feedback("--merge", task="Double a number")
    assert (said["outcome"], [held["path"] for held in said["held_back"]]) == ("verified", ["pyproject.toml"])
    assert scene.file_at("main", "pyproject.toml") == MANIFEST.rstrip()
    assert scene.file_at(f"{said['branch']}-held", "pyproject.toml") == NEEDS_MORE.rstrip()


@pytest.mark.slow
def test_a_manifest_that_is_needed_is_waited_for_at_once(tmp_path: Path) -> None:
    changes = writes("calc.py", f"import calculus\n\n\n{ADDS}") + writes("pyproject.toml", NEEDS_MORE)
    scene = UNITTEST.scene(tmp_path, changes, **{"pyproject.toml": MANIFEST})
    said = scene.feedback("--merge", task="Use calculus", code=4)
    assert [(need["kind"], need["what"]) for need in said["needs"]] == [("gate", "protected")]
    assert [line.split()[0] for line in scene.noted("started")] == ["developer", "reviewer"]


# --- an honest change of a test ------------------------------------------------------------------------------------

QUALIFIED = TEST_ADD.replace("from calc import add", "import calc").replace("add(2", "calc.add(2")
RENAMED = QUALIFIED.replace("calc.add", "calc.plus").replace("test_adds", "test_sums")
RENAMES = writes("calc.py", ADDS.replace("add", "plus")) + writes(TEST, RENAMED)


@pytest.mark.slow
def test_a_refactor_that_must_change_a_test_is_told_and_then_reaches_a_person(tmp_path: Path) -> None:
    hears = "note('told', json.dumps([each['issue'] for each in context()['failures']]))\n"
    scene = UNITTEST.scene(tmp_path, hears + RENAMES, **{TEST: QUALIFIED})
    said = scene.feedback("--merge", "--keeps-behaviour", task="Call it plus", code=4)
    first, second = (json.loads(line) for line in scene.noted("told"))
    assert (first, TEST in " ".join(second)) == ([], True)
    (gate,) = [each for each in scene.loop("gates", "--json").json["gates"] if each["status"] == "pending"]
    old = "tests.test_calc.Adding.test_adds"
    assert (gate["name"], gate["failing"], gate["ids_dropped"]) == ("protected", [old], [old])
    assert [need["what"] for need in said["needs"]] == ["protected"]
    scene.loop("approve", f"protected@{gate['id']}")
    done = scene.loop(*RESUME).json
    assert (done["outcome"], done["merged_into"]) == ("verified", "main")
    assert scene.file_at("main", TEST) == RENAMED.rstrip()
    assert len(scene.noted("told")) == 2


@pytest.mark.slow
def test_a_word_beforehand_lets_the_same_refactor_land_at_once(tmp_path: Path) -> None:
    scene = UNITTEST.scene(tmp_path, RENAMES, **{TEST: QUALIFIED})
    said = scene.feedback("--merge", "--keeps-behaviour", "--allow", "tests/**", task="Call it plus")
    assert (said["outcome"], said["iterations"], said["held_back"]) == ("verified", 1, [])
    assert scene.file_at("main", TEST) == RENAMED.rstrip()


# --- what no test sees -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_change_that_no_test_notices_is_told_and_then_a_persons_to_accept(tmp_path: Path) -> None:
    hears = "note('told', json.dumps([each['issue'] for each in context()['failures']]))\n"
    scene = UNITTEST.scene(tmp_path, hears + writes("calc.py", ADDS + DOUBLES))
    said = scene.feedback("--merge", task="Double a number", code=4)
    first, second = (json.loads(line) for line in scene.noted("told"))
    assert (first, "Write a test" in " ".join(second)) == ([], True)
    assert [(need["kind"], need["what"]) for need in said["needs"]] == [("gate", "untested")]
    scene.loop("approve", scene.open_gate())
    done = scene.loop(*RESUME).json
    assert (done["outcome"], done["merged_into"]) == ("accepted", "main")
    assert "double" in (scene.root / ".loop" / "debt.md").read_text()


@EVERYWHERE
def test_a_product_whose_tests_do_not_run_any_more_is_not_verified(tmp_path: Path, ground: Ground) -> None:
    scene = ground.scene(tmp_path, writes(ground.code, ground.gives_up + ground.held))
    said = scene.feedback("--merge", "--max-iterations", "1", task="Make it better", code=4)
    assert (said["outcome"], said["merged"]) == ("escalated", False)


@pytest.mark.slow
def test_a_product_that_skips_its_tests_is_not_verified(tmp_path: Path) -> None:
    skips = "import unittest\n\n\ndef add(a, b):\n    raise unittest.SkipTest('later')\n"
    scene = UNITTEST.scene(tmp_path, writes("calc.py", skips))
    said = scene.feedback("--merge", "--max-iterations", "1", task="Make it better", code=4)
    assert (said["outcome"], said["merged"]) == ("escalated", False)


# --- what one part added judges no other -----------------------------------------------------------------------------

MORE = "tests/test_more.py"
LAX = TEST_ADD.replace("Adding", "More").replace("2, 3), 5", "2, 2), 0")  # as a first try that subtracts would have it
RIGHT = LAX.replace("2, 2), 0", "2, 2), 4")
RAISES = "def add(a, b):\n    raise NotImplementedError\n"


@pytest.mark.slow
def test_a_test_that_one_ticket_added_does_not_judge_the_next(tmp_path: Path) -> None:
    wrong = against("AC-1", "sign", file="calc.py")
    steps = [
        creates(1, {"calc.py": "def add(a, b):\n    return a - b\n", MORE: LAX}),
        says("critic", 1, "fail", [wrong]),
        creates(2, {"calc.py": ADDS, MORE: RIGHT}),
        says("critic", 2, "pass"),
    ]
    scene = played(tmp_path, steps, files={"calc.py": RAISES, TEST: TEST_ADD})
    new(scene, "Add numbers", "Two numbers are added")
    said = run(scene, "--merge").json
    assert (said["outcome"], len(said["tickets"]), said["held_back"]) == ("verified", 2, [])
    assert scene.loop("gates", "--all", "--json").json["gates"] == []


@pytest.mark.slow
def test_a_test_that_one_part_of_a_loop_added_does_not_judge_the_next(tmp_path: Path) -> None:
    """The second begins where the first has ended, and may take its test away again."""
    adds = PUTS_ADD + writes(MORE, RIGHT) + DONE + "sys.exit(0)\n"
    sums = f"os.unlink({MORE!r})\n" + writes("calc.py", "def add(*all):\n    return sum(all)\n")
    scene = UNITTEST.scene(tmp_path, f"if not Path({MORE!r}).exists():\n{indent(adds, '    ')}{sums}")
    scene.repo.write("calc.py", RAISES)
    scene.repo.commit("Still to be done")
    root = Commit(scene.repo.git("rev-parse", "main"))
    one = below(scene, FeedbackParams(task="Add", base=root, trust=Trust(base=root, in_force=True)))
    assert one.ending is Ending.VERIFIED
    two = below(scene, FeedbackParams(task="Sum", base=one.commit, trust=Trust(base=root, in_force=True)))
    assert (two.ending, two.held) == (Ending.VERIFIED, ())
    assert MORE in scene.repo.git("ls-tree", "-r", "--name-only", one.commit).splitlines()
    assert MORE not in scene.repo.git("ls-tree", "-r", "--name-only", two.commit).splitlines()


def below(scene: Scene, params: FeedbackParams) -> Outcome:
    """What comes of such a loop below another."""

    async def whole() -> Outcome:
        project = open_project(scene.root, dict(os.environ), kinds={**KINDS, **TOYS})
        try:
            above = AnthologyParams(kind="feedback", params=encode(params), base=params.trust.base)
            loop = await create_loop(project, settings_of(project), new_id("anthology"), above)
            ready = await make_ready(project, loop, pytest.fail)
            halt = await drive(
                build_world(project, ready, people=Nobody(), observer=ready.publisher), ready.seen.opened
            )
        finally:
            await project.store.close()
        assert halt.outcome is not None, halt
        return halt.outcome

    return asyncio.run(whole())


def test_the_reviewer_is_told_which_files_of_existing_tests_change(tmp_path: Path) -> None:
    writes = f"file = Path('tests/test_calc.py')\nfile.write_text(file.read_text() + '\\n')\n{PUTS_ADD}"
    new = "Path('tests/test_new.py').write_text('')\nreport(summary='added')\n"
    reads = "told = Path(os.environ['LOOP_BRIEF']).read_text().splitlines()\n"
    notes = "note('told', ' '.join(line for line in told if '`tests/' in line))\n"
    scene = ready(tmp_path, developer=writes + new, reviewer=reads + notes + PASSES)
    scene.loop("feedback", "Add add()", "--unattended", code=0)
    (line,) = scene.noted("told")
    assert ("`tests/test_calc.py`" in line, "test_new" in line) == (True, False)
