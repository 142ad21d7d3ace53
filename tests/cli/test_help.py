import subprocess
import sys
from collections.abc import Callable
from importlib import import_module

import click
import pytest

from loopwright.cli.main import COMMANDS, commands

Golden = Callable[[str, str], None]


def help_of(*words: str) -> str:
    """What `--help` prints, at a width that does not depend on the terminal."""
    context = click.Context(commands(words), info_name="loop", terminal_width=100)
    if not words:
        return context.get_help() + "\n"
    command: click.Command = context.command.get_command(context, words[0])  # type: ignore[attr-defined]
    return command.get_help(click.Context(command, context, words[0], terminal_width=100)) + "\n"


def page() -> str:
    head = "# Commands\n\nWhat `loop --help` and `loop COMMAND --help` print.\n"
    blocks = [f"## loop\n\n```text\n{help_of()}```\n"]
    blocks += [f"## loop {name}\n\n```text\n{help_of(name)}```\n" for name in COMMANDS]
    return "\n".join([head, *blocks])


def test_the_page_of_commands_is_what_help_says(document: Golden) -> None:
    document("cli.md", page())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_json_and_says_one_sentence_about_itself(name: str) -> None:
    module, sentence = COMMANDS[name]
    command: click.Command = import_module(f"loopwright.cli.{module}").command
    assert command.name == name
    assert sentence.endswith(".")
    assert "--json" in [flag for parameter in command.params for flag in parameter.opts]
    assert command.help


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys; from loopwright.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit: pass\n"
        "print([name for name in ('rich', 'apsw', 'asyncio', 'loopwright.assembly') if name in sys.modules])"
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
