import re
from collections.abc import Callable
from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st

from loopwright.adapters.checks.order import as_run, verifies
from loopwright.adapters.setup_writer import Surroundings, render_config
from loopwright.config import settings as s
from loopwright.config.loop_toml import read_settings
from loopwright.config.settings import CheckSettings

PYTHON = Surroundings(
    checks=(
        CheckSettings(name="build", run=("python", "-m", "compileall", "-q", "src")),
        CheckSettings(name="test", run=("pytest", "-q", "--junitxml={report}"), report="junit"),
    ),
    agents=("codex", "claude", "vim"),
    files=("src/a.py", "tests/test_a.py", ".github/workflows/ci.yml"),
    can_verify=True,
)


PYTHON_TESTS = ("tests/**", "**/test_*.py", "**/*_test.py", "**/tests.py")


def test_a_python_repository_with_two_agents(golden: Callable[[str, str], None]) -> None:
    golden("setup/python.toml", render_config(PYTHON))


def test_an_empty_repository_without_an_agent(golden: Callable[[str, str], None]) -> None:
    golden("setup/empty.toml", render_config(Surroundings()))


def test_what_is_written_reads_back_as_what_was_found() -> None:
    settings = read_settings(render_config(PYTHON), "loop.toml")
    assert settings == s.Settings(
        checks=tuple(s.CheckSettings(**asdict(check)) for check in PYTHON.checks),
        workspace=s.WorkspaceSettings(product=("src/**",), tests=PYTHON_TESTS),
    )


def test_nothing_found_still_reads_back() -> None:
    settings = read_settings(render_config(Surroundings(agents=("emacs",))), "loop.toml")
    assert settings == s.Settings()


def test_the_examples_in_comments_are_valid_once_they_are_uncommented() -> None:
    text = render_config(Surroundings())
    examples = [line.removeprefix("# ") for line in text.splitlines() if re.match(r"# (\[|\w+ = )", line)]
    settings = read_settings("\n".join(examples), "loop.toml")
    assert {agent.kind for agent in settings.agents} == {"command", "tools", "autofix"}
    assert [agent.name for agent in settings.agents_for("developer")] == ["my"]
    assert any(verifies(check) for check in settings.checks)


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=10)


@given(run=st.lists(WORDS, min_size=1).map(tuple))
def test_any_command_reads_back(run: tuple[str, ...]) -> None:
    check = CheckSettings(
        name="test", run=tuple(word.replace("{report}", "r").replace("{unittest}", "u") for word in run)
    )
    (read,) = read_settings(render_config(Surroundings(checks=(check,))), "loop.toml").checks
    assert as_run(read) == check
