import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import click
import pytest

from loopwright import __version__
from loopwright.cli.main import COMMANDS, commands
from tests.cli.projects import loop, program

Golden = Callable[[str, str], None]


def help_of(*words: str) -> str:
    """What `--help` prints, at a width that does not depend on the terminal."""
    context = commands(words).make_context("loop", [], resilient_parsing=True, terminal_width=100)
    if not words:
        return context.get_help() + "\n"
    for word in words:
        command: click.Command = context.command.get_command(context, word)  # type: ignore[attr-defined]
        context = click.Context(command, context, word, terminal_width=100)
    return context.get_help() + "\n"


def inner(name: str) -> list[str]:
    """The commands of a group; none of a plain command."""
    command = import_module(f"loopwright.cli.{COMMANDS[name][0]}").command
    return list(command.commands) if isinstance(command, click.Group) else []


def page() -> str:
    head = "# Commands\n\nWhat `loop --help` and `loop COMMAND --help` print.\n"
    blocks = [f"## loop\n\n```text\n{help_of()}```\n"]
    for name in COMMANDS:
        words = [(name,), *((name, each) for each in inner(name))]
        blocks += [f"## loop {' '.join(each)}\n\n```text\n{help_of(*each)}```\n" for each in words]
    return "\n".join([head, *blocks])


def test_the_page_of_commands_is_what_help_says(document: Golden) -> None:
    document("cli.md", page())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_json_and_says_one_sentence_about_itself(name: str) -> None:
    module, sentence = COMMANDS[name]
    command: click.Command = import_module(f"loopwright.cli.{module}").command
    assert command.name == name
    assert sentence.endswith(".")
    assert command.help
    for each in command.commands.values() if isinstance(command, click.Group) else (command,):
        assert "--json" in [flag for parameter in each.params for flag in parameter.opts]
        assert each.help


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys; from loopwright.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit: pass\n"
        "print([name for name in ('rich', 'apsw', 'asyncio', 'loopwright.app.project') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_pipe_never_loads_the_drawing_library() -> None:
    program = (
        "import sys; from loopwright.cli.main import main\n"
        "try:\n    main(['feedback', '--help'])\nexcept SystemExit: pass\n"
        "print('rich' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_a_shell_completes_commands_and_their_options(tmp_path: Path) -> None:
    def completed(*words: str) -> list[str]:
        line = {"_LOOP_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
        return [found.split(",")[1] for found in program(tmp_path, **line).out.splitlines()]

    assert completed("loop", "re") == ["review", "resume", "reject", "receipts", "render", "rehearse"]
    assert completed("loop", "cancel", "--cl") == ["--cleanup"]
    assert completed("loop", "review", "--gate", "st") == ["story"]


def test_without_a_command_the_help_is_shown(tmp_path: Path) -> None:
    done = loop(tmp_path)
    assert (done.code, done.out) == (0, loop(tmp_path, "--help").out)
    assert loop(tmp_path, "--version").out == f"loop, version {__version__}\n"
