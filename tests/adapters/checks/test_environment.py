from __future__ import annotations

import asyncio
import base64
import os
import py_compile
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from loopwright.adapters.agents.redaction import secrets_in
from loopwright.adapters.checks.bytecode import Bytecode
from loopwright.adapters.checks.environment import Digests, as_activated, digests_for, for_checks, program
from loopwright.adapters.checks.started import located
from loopwright.adapters.resolution import Resolution
from loopwright.config.settings import CheckSettings, Settings
from loopwright.errors import CheckNotRunnable, NeedsPerson
from tests.adapters.checks.projects import project


def tool(folder: Path, name: str, text: str = "#!/bin/sh\n") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(text)
    file.chmod(0o755)
    return file


def digest(environment: dict[str, str], *argv: str, setup: tuple[tuple[str, ...], ...] = ()) -> str:
    return asyncio.run(Digests(Resolution(environment, Path("/nowhere")), setup).of(CheckSettings(name="c", run=argv)))


def test_the_path_has_no_entry_that_means_the_current_folder() -> None:
    made = for_checks({"PATH": f"/a::.:bin:/b{os.pathsep}", "HOME": "/h", "GIT_DIR": "x", "LOOP_X": "y"}, Path("/v"))
    assert made == {
        "PATH": "/a:/b",
        "HOME": "/h",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "GIT_CEILING_DIRECTORIES": "/v",
        "GIT_NO_REPLACE_OBJECTS": "1",
    }


def test_a_program_is_found_on_the_path_or_is_a_file_of_the_tree(tmp_path: Path) -> None:
    made = tool(tmp_path / "bin", "lint")
    environment = {"PATH": str(tmp_path / "bin")}
    assert program("c", ("lint",), environment) == made
    assert program("c", (str(made),), environment) == made
    assert program("c", ("./lint",), environment) is None
    with pytest.raises(CheckNotRunnable, match="'nothing' was not found"):
        program("c", ("nothing",), environment)


@pytest.mark.parametrize(
    ("argv", "runs"),
    [
        ((".venv/bin/python", "-m", "pytest"), ("{root}/.venv/bin/python", "-m", "pytest")),
        (("./.venv/bin/python",), ("{root}/.venv/bin/python",)),
        (("./run", "test"), ("./run", "test")),  # git carries it: a file of what is judged
        (("bin/later",), ("bin/later",)),  # nowhere yet: the candidate may make it
        (("../bin/tool",), ("../bin/tool",)),
        (("pytest",), ("pytest",)),
        (("/usr/bin/make", ".venv/bin/python"), ("/usr/bin/make", ".venv/bin/python")),
    ],
)
def test_what_git_does_not_carry_is_started_in_the_person_s_own_tree(
    tmp_path: Path, argv: tuple[str, ...], runs: tuple[str, ...]
) -> None:
    root = tmp_path / "root"
    for file in (root / ".venv" / "bin" / "python", root / "run", tmp_path / "bin" / "tool"):
        tool(file.parent, file.name)
    expected = tuple(word.replace("{root}", str(root)) for word in runs)
    assert located(argv, root, lambda path: path == "run") == expected


def test_the_digest_changes_with_tool_setup_and_names_but_not_with_values(tmp_path: Path) -> None:
    tool(tmp_path, "lint")
    environment = {"PATH": str(tmp_path), "TOKEN": "a"}
    first = digest(environment, "lint")
    assert digest({**environment, "TOKEN": "b", "SHLVL": "3"}, "lint") == first
    assert digest({**environment, "NEW": "1"}, "lint") != first
    assert digest(environment, "lint", setup=(("uv", "sync"),)) != first
    tool(tmp_path, "lint", "#!/bin/sh\n# another version\n")
    assert digest(environment, "lint") != first


@dataclass(frozen=True)
class TwoPythons:
    """A virtual environment, and the interpreter that it was made from with packages of its own."""

    base: Path
    environment: Path
    root: Path

    @staticmethod
    def below(folder: Path) -> TwoPythons:
        made = TwoPythons(folder / "base", folder / "env", folder / "root")
        tool(folder / "late", "git")
        made.root.mkdir()
        for home in (made.base, made.environment):
            venv.create(home, symlinks=True)
            (home / "bin" / "python3").unlink(missing_ok=True)
        python = made.base / "bin" / "python"
        shutil.copy2(python.resolve(), made.base / "bin" / "copy")
        (made.base / "bin" / "copy").replace(python)
        (made.environment / "bin" / "python").unlink()
        (made.environment / "bin" / "python").symlink_to(python)
        return made

    def install(self, home: Path, name: str) -> None:
        (site,) = home.glob("lib/python*/site-packages")
        (site / name).mkdir()
        (site / f"{name}-1.0.dist-info").mkdir()

    @property
    def check(self) -> CheckSettings:
        return CheckSettings(name="c", run=(str(self.environment / "bin" / "python"), "-m", "pytest"))

    @property
    def digests(self) -> Digests:
        async def is_named(_name: str) -> bool:
            return False

        path = os.pathsep.join((str(self.base / "bin"), str(self.base.parent / "late")))
        environ = {"PATH": path, "HOME": str(self.root)}
        return digests_for(Settings(), (self.check.run,), environ, root=self.root, is_named=is_named)

    def digest(self) -> str:
        return asyncio.run(self.digests.of(self.check))


def test_a_package_that_the_check_cannot_import_neither_stops_it_nor_makes_it_run_again(tmp_path: Path) -> None:
    made = TwoPythons.below(tmp_path)
    digests, before = made.digests, made.digest()
    made.install(made.base, "uv")
    digests.refuse_what_was_changed(made.check)
    assert made.digest() == before


def test_a_package_that_the_check_can_import_stops_a_running_loop_and_makes_the_check_run_again(tmp_path: Path) -> None:
    made = TwoPythons.below(tmp_path)
    digests, before = made.digests, made.digest()
    made.install(made.environment, "evil")
    with pytest.raises(NeedsPerson, match=r"evil is new"):
        digests.refuse_what_was_changed(made.check)
    assert made.digest() != before


def test_another_git_neither_stops_a_check_that_does_not_name_it_nor_makes_it_run_again(tmp_path: Path) -> None:
    made = TwoPythons.below(tmp_path)
    digests, before = made.digests, made.digest()
    tool(made.base / "bin", "git")
    digests.refuse_what_was_changed(made.check)
    assert made.digest() == before


def test_a_check_whose_environment_changes_while_it_runs_runs_again_with_its_base(tmp_path: Path) -> None:
    """The first run of the candidate installs what the base did not have."""
    made = TwoPythons.below(tmp_path)
    (site,) = made.environment.glob("lib/python*/site-packages")
    ran = tmp_path / "ran"
    code = (
        "import pathlib, sys; here = pathlib.Path('a.py').read_text();"
        f"open({str(ran)!r}, 'a').write(here or 'base'); late = pathlib.Path({str(site / 'late.py')!r});"
        "late.exists() or not here or late.touch(); sys.exit(1)"
    )
    spec = CheckSettings(name="c", run=(str(made.environment / "bin" / "python"), "-c", code), baseline=True)
    where = project(tmp_path, {"a.py": ""}, [spec])
    asyncio.run(where.only(where.candidate({"a.py": "1"})))
    assert ran.read_text() == "11base"


def test_a_shim_is_asked_which_python_it_starts(tmp_path: Path) -> None:
    choice = tmp_path / "choice"
    choice.write_text("3.11")
    tool(tmp_path / "bin", "python", f"#!/bin/sh\nread v < {choice}; echo Python $v\n")
    environment = {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}
    first = digest(environment, "python")
    choice.write_text("3.12\n")
    assert digest(environment, "python") != first


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("HOME", True),
        ("LC_ALL", True),
        ("VIRTUAL_ENV", True),
        ("GOFLAGS", True),
        ("https_proxy", True),
        ("PYTHONPATH", False),
        ("PYTHONSTARTUP", False),
        ("DATABASE_URL", False),
        ("AWS_SECRET_ACCESS_KEY", False),
        ("CARGO_REGISTRY_TOKEN", False),
        ("UV_INDEX_OWN_PASSWORD", False),
        ("NPM_CONFIG__AUTH", False),
        ("GIT_DIR", False),
    ],
)
def test_a_check_sees_the_usual_variables_and_nothing_that_looks_secret(name: str, seen: bool) -> None:  # noqa: FBT001
    assert (for_checks({name: "x"}, Path("/v")).get(name) == "x") is seen


SAYS = "import os, sys; print(sorted(os.environ.items())); print(sys.flags.no_user_site); sys.exit(1)"


def said(tmp_path: Path, spec: CheckSettings, person: dict[str, str]) -> str:
    """All that is kept of a check that prints its whole environment and fails."""
    made = project(tmp_path, {"a.py": ""}, [spec], environ=person)

    async def run() -> str:
        result = await made.only(made.candidate({"a.py": "1\n"}))
        return repr(result) + (await made.store.fetch(result.output)).decode()

    return asyncio.run(run())


def test_what_looks_secret_comes_back_as_its_name_in_whatever_spelling(tmp_path: Path) -> None:
    secret = "s3cr3t-of-the-person"
    spelled = (secret, secret.encode().hex(), base64.b64encode(b"user:" + secret.encode()).decode())
    (tmp_path / "leak.py").write_text(f"import sys; print({spelled!r}); sys.exit(1)")
    spec = CheckSettings(name="c", run=(sys.executable, str(tmp_path / "leak.py")))
    text = said(tmp_path, spec, {"API_TOKEN": secret})
    assert "[redacted:API_TOKEN]" in text
    assert all(each not in text for each in spelled)


def test_a_check_gets_what_env_names_and_its_value_is_not_kept(tmp_path: Path) -> None:
    person = {"DATABASE_URL": "postgres://me:hunter-2000@db/x", "OTHER": "not-let-through"}
    spec = CheckSettings(name="c", run=(sys.executable, "-c", SAYS), env=("DATABASE_URL", "MISSING"))
    text = said(tmp_path, spec, person)
    assert "DATABASE_URL" in text
    assert "hunter-2000" not in text
    assert "OTHER" not in text
    assert "PYTHONPYCACHEPREFIX" in text


def test_the_site_of_the_user_does_not_run(tmp_path: Path) -> None:
    home = tmp_path / "home"
    site = home / ".local" / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    site.mkdir(parents=True)
    (site / "usercustomize.py").write_text("print('the user site ran')\n")
    python = f"{sys.base_exec_prefix}/bin/python{sys.version_info[0]}.{sys.version_info[1]}"  # another has no such site
    plain = subprocess.run((python, "-c", ""), env={"HOME": str(home)}, capture_output=True, text=True, check=True)
    assert plain.stdout == "the user site ran\n"
    text = said(tmp_path, CheckSettings(name="c", run=(python, "-c", SAYS)), {"HOME": str(home)})
    assert "the user site ran" not in text


@pytest.mark.parametrize(("start", "is_found"), [(".venv/bin/python", True), (sys.executable, False)])
def test_programs_beside_an_environments_python_are_found_by_their_names(
    tmp_path: Path,
    start: str,
    is_found: bool,  # noqa: FBT001
) -> None:
    checkout = tmp_path / "checkout"
    tool(checkout / ".venv" / "bin", "greet")
    (checkout / ".venv" / "pyvenv.cfg").write_text("")
    active = as_activated((start, "-m", "pytest"), checkout, {"PATH": "/usr/bin"})
    found = shutil.which("greet", path=active.get("PATH", "/usr/bin"))
    assert (found is not None, active.get("VIRTUAL_ENV") == str(checkout / ".venv")) == (is_found, is_found)


def test_compiled_code_beside_the_sources_does_not_run(tmp_path: Path) -> None:
    """A `.pyc` that claims to be unchecked runs in place of its source, wherever Python looks for one."""
    compiled = tmp_path / "evil.pyc"
    source = tmp_path / "evil.py"
    source.write_text("WORD = 'evil'\n")
    py_compile.compile(str(source), str(compiled), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    name = f"__pycache__/good.{sys.implementation.cache_tag}.pyc"
    plant = f"import pathlib, shutil; pathlib.Path('__pycache__').mkdir(); shutil.copy({str(compiled)!r}, {name!r});"
    code = f"{plant} import good, sys; print('it is', good.WORD); sys.exit(1)"
    made = project(
        tmp_path, {"good.py": "WORD = 'good'\n"}, [CheckSettings(name="c", run=(sys.executable, "-c", code))]
    )
    result = asyncio.run(made.only(made.candidate({"a.py": ""})))
    assert "it is good" in repr(result)


def test_what_the_base_compiled_serves_candidates_until_somebody_touches_it(tmp_path: Path) -> None:
    asked: list[str] = []

    async def is_named(name: str) -> bool:
        asked.append(name)
        return False

    async def story() -> None:
        kept, checkout = Bytecode(tmp_path / "kept", is_named), tmp_path / "checkout"
        fresh = tmp_path / "fresh"
        (fresh / checkout.relative_to("/")).mkdir(parents=True)
        (fresh / "a.pyc").write_text("made")
        name = await kept.keep("test", fresh, checkout)
        found = await kept.made_before("test", checkout)
        assert found is not None
        assert (found.folder, found.list_name) == (tmp_path / "kept" / "test" / "files", name)
        assert [path.name for path in found.folder.rglob("*.pyc")] == ["a.pyc"]
        assert await Bytecode(tmp_path / "kept", is_named).made_before("test", checkout) is None
        assert asked == [name]
        assert found.is_intact()
        (found.folder / "a.pyc").write_text("evil")
        (found.folder / "a.pyc").write_text("made")
        assert not found.is_intact()
        (found.folder / "a.pyc").write_text("evil")
        assert await kept.made_before("test", checkout) is None
        (tmp_path / "empty").mkdir()
        assert await kept.keep("other", tmp_path / "empty", checkout) == ""

    asyncio.run(story())


def test_files_that_are_as_in_the_base_are_not_compiled_again_and_others_are(tmp_path: Path) -> None:
    def checkout(name: str, changed: str) -> Path:
        folder = tmp_path / name
        (folder / "pkg").mkdir(parents=True)
        for file, text in {"__init__": "", "same": "WORD = 'base'\n", "changed": f"WORD = {changed!r}\n"}.items():
            (folder / "pkg" / f"{file}.py").write_text(text)
            os.utime(folder / "pkg" / f"{file}.py", (len(name), len(name)))
        return folder

    def loaded(folder: Path, prefix: Path, *options: str) -> list[str]:
        code = "import pkg.changed as c, pkg.same as s; print(c.WORD, s.__loader__.get_code('pkg.same').co_filename)"
        env = {"PYTHONPYCACHEPREFIX": str(prefix)}
        done = subprocess.run(
            [sys.executable, *options, "-v", "-c", code],
            cwd=folder,
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
        matched = [line.split("/")[-1] for line in done.stderr.splitlines() if " matches " in line and "pkg" in line]
        return [*done.stdout.split(), *dict.fromkeys(matched)]

    async def never(_name: str) -> bool:
        return False

    async def story() -> None:
        base, candidate, kept = (
            checkout("base", "old"),
            checkout("candidate", "new"),
            Bytecode(tmp_path / "kept", never),
        )
        loaded(base, tmp_path / "fresh")
        await kept.keep("test", tmp_path / "fresh", base)
        shutil.rmtree(base)
        found = await kept.made_before("test", candidate)
        assert found is not None
        assert loaded(candidate, found.folder, "-B") == ["new", f"{candidate}/pkg/same.py", "__init__.py", "same.py"]
        shutil.rmtree(candidate)
        await kept.made_before("test", tmp_path / "next")
        assert [path.name for path in found.folder.rglob("*") if path.is_symlink()] == ["next"]

    asyncio.run(story())


def test_a_package_planted_while_the_loop_runs_keeps_checks_from_running(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    made = project(tmp_path, {"a.py": ""}, [CheckSettings(name="c", run=(sys.executable, "-c", "pass"))])
    found = {str(site / "own.pth"): "x"}
    outfit = made.checks.outfit
    digests = replace(outfit.digests, relied_on=lambda: found, pinned=dict(found))
    made = replace(made, checks=replace(made.checks, outfit=replace(outfit, digests=digests)))
    assert asyncio.run(made.only(made.candidate({"a.py": "1"}))).passed
    found[str(site / "evil.pth")] = "y"
    with pytest.raises(NeedsPerson, match=r"check 'c' was not run: .*evil\.pth is new since the loop was taken up"):
        asyncio.run(made.only(made.candidate({"a.py": "2"})))


def test_colours_do_not_fill_what_a_brief_shows(tmp_path: Path) -> None:
    code = "import sys; print('\\x1b[1m\\x1b[31mred\\x1b[39m words'); sys.exit(1)"
    made = project(tmp_path, {"a.py": ""}, [CheckSettings(name="c", run=(sys.executable, "-c", code))])
    (failure,) = asyncio.run(made.only(made.candidate({"a.py": "1\n"}))).failures
    assert "\nred words" in failure.evidence


def test_where_a_shell_stands_is_no_password() -> None:
    places = {"PWD": "/my-project", "OLDPWD": "/home/me/my work"}
    assert secrets_in({**places, "DB_PWD": "hunter-2000"}) == {"hunter-2000": "DB_PWD"}


def test_tests_that_are_as_in_the_base_are_not_compiled_again_by_pytest(tmp_path: Path) -> None:
    def checkout(name: str, changed: str) -> Path:
        folder = tmp_path / name
        (folder / "tests").mkdir(parents=True)
        for file, told in {"test_same": "True", "test_changed": changed}.items():
            (folder / "tests" / f"{file}.py").write_text(f"def test_it():\n    assert {told}\n")
        return folder

    def cached(folder: Path, prefix: Path, *options: str) -> set[str]:
        words = ("-m", "pytest", "-q", f"--debug={tmp_path / 'trace'}", "-p", "no:cacheprovider")
        env = {"PYTHONPYCACHEPREFIX": str(prefix), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        subprocess.run([sys.executable, *options, *words], cwd=folder, env=env, capture_output=True, check=True)
        told = (line for line in (tmp_path / "trace").read_text().splitlines() if "found cached rewritten pyc" in line)
        return {line.rpartition("/")[2].split()[0].rstrip("')") for line in told}

    async def never(_name: str) -> bool:
        return False

    async def story() -> None:
        base, candidate, kept = checkout("base", "1"), checkout("candidate", "2"), Bytecode(tmp_path / "kept", never)
        assert cached(base, tmp_path / "fresh") == set()
        await kept.keep("test", tmp_path / "fresh", base)
        found = await kept.made_before("test", candidate)
        assert found is not None
        assert cached(candidate, found.folder, "-B") == {"test_same.py"}

    asyncio.run(story())
