"""The table of commands, and the one place where an error becomes a sentence and an exit code.

A command's module is imported only when the command is named: `loop --help` stays quick. What starts a loop is a file
of `cli/loops/`, found by being there; the first line of it says what the command is called and does.
"""

from __future__ import annotations

import os
import re
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

import click

from loopwright import __version__
from loopwright.cli.here import Here
from loopwright.cli.output import ConfirmationNeed, ErrorAnswer, fill_closed_streams, hush, note, put_json, settle
from loopwright.errors import EngineError, NeedsPerson

INTERRUPTED = 130
BROKEN_PIPE = 141
STATE_FOLDER = ".loop"

_NAMED = re.compile(r'"""`loop (\w+)`: (.)(.*\.)(?:""")?')

# In the order in which a newcomer needs them. Each module of `loopwright.cli` has its command as `command`.
_TO_BEGIN = {
    "demo": ("demo", "The whole thing on a sample project: no account, no key."),
    "setup": ("setup", "Write loop.toml for this repository."),
    "doctor": ("doctor", "What is here, and what must be fixed."),
}
_TO_GO_ON = {
    "status": ("status", "What is running, what needs you, and why."),
    "resume": ("resume", "Go on with what was interrupted, paused or answered."),
    "answer": ("answer", "Answer the question a loop has stopped with."),
    "cancel": ("cancel", "End a loop; every commit is kept."),
    "gates": ("gates", "What waits for a person's approval, and why."),
    "approve": ("approve", "Open a gate for exactly the changes it shows."),
    "reject": ("reject", "Close a gate; the reason goes to the developer."),
    "log": ("log", "The journey, one line per event."),
    "explain": ("explain", "Why the engine will do what it does next."),
    "plan": ("loops.plan", "The tasks of a workflow, in waves."),
    "receipts": ("receipts", "What was verified, on which tree."),
    "insights": ("loops.insights", "What the ticket cycles teach."),
    "notify": ("notify", "Deliver notices that did not arrive, or send a test message."),
    "render": ("render", "Write every file made from the log anew."),
    "rehearse": ("rehearse", "Try a policy with scripted agents, for zero tokens."),
    "adopt": ("adopt", "Go on with what another tool began."),
    "plugin": ("plugin", "Put the commands and hooks into Claude Code, or take them out."),
    "hook": ("hook", "What Claude Code asks when a turn ends or a session starts."),
    "completion": ("completion", "The completion script for a shell."),
}


def _to_start_a_loop() -> dict[str, tuple[str, str]]:
    found = {}
    for file in sorted((Path(__file__).parent / "loops").glob("*.py")):
        with file.open(encoding="utf-8") as text:
            named = _NAMED.match(text.readline())
        if named and named[1] not in _TO_GO_ON:
            found[named[1]] = (f"loops.{file.stem}", named[2].upper() + named[3])
    return found


COMMANDS: Mapping[str, tuple[str, str]] = _TO_BEGIN | _to_start_a_loop() | _TO_GO_ON

_HELP = """Drives coding agents through build, review and test loops until the work is verifiably done.

Begin with `loop demo`; in a repository of your own, with `loop setup` and `loop doctor`.

\b
Exit codes: 0 done; 1 error; 2 usage or configuration; 3 the state forbids it;
4 a person is needed; 5 paused by a limit; 75 already running; 130, 143 interrupted, resumable.
"""


class _InOrder(click.Group):
    """Names its commands as the table has them, not by the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click has it
        return list(self.commands)


def commands(argv: Sequence[str]) -> click.Group:
    """The command line for `argv`: only what it names is loaded, the rest is a name and a sentence."""
    named = next((word for word in argv if not word.startswith("-")), "")
    group = _InOrder("loop", help=_HELP, context_settings={"help_option_names": ["-h", "--help"]})
    for name, (module, sentence) in COMMANDS.items():
        loaded = import_module(f"loopwright.cli.{module}").command if name == named else None
        group.add_command(loaded or click.Command(name, help=sentence), name)
    return click.version_option(__version__, prog_name="loop")(group)


def main(argv: Sequence[str] | None = None) -> None:
    """What the program `loop` starts."""
    words = sys.argv[1:] if argv is None else list(argv)
    fill_closed_streams()
    here = Here.of_process(os.environ)
    try:
        code = run(words, here) if here.cwd.is_dir() else _failed(words, f"{here.cwd} is gone; change to a folder", 2)
        sys.stdout.flush()
    except BrokenPipeError:
        hush()
        code = BROKEN_PIPE
    settle()
    sys.exit(code)


def run(argv: Sequence[str], here: Here) -> int:
    """Carry out one command line and say with which code to exit."""
    try:
        _complete_for_a_shell(argv, here)
        with commands(argv).make_context("loop", list(argv) or ["--help"], obj=here) as context:
            code = context.command.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        return _failed(argv, _usage(error), error.exit_code)
    except NeedsPerson as error:
        need = ConfirmationNeed(loop=error.loop, why=str(error), command=error.command)
        return _failed(argv, str(error), error.exit_code, (need,) if error.command else ())
    except EngineError as error:
        return _failed(argv, str(error), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - nobody above could say it in one sentence
        return _failed(argv, _crashed(error, here), 1)
    return code if isinstance(code, int) else 0


def _complete_for_a_shell(argv: Sequence[str], here: Here) -> None:
    """Completion looks inside commands that are not named yet, so all of them are loaded for it."""
    if "_LOOP_COMPLETE" not in here.environ:
        return
    group = commands(argv)
    for name, (module, _) in COMMANDS.items():
        group.add_command(import_module(f"loopwright.cli.{module}").command, name)
    group.main(list(argv), prog_name="loop", complete_var="_LOOP_COMPLETE")


def _usage(error: click.ClickException) -> str:
    sentence, guess, meant = error.format_message().partition(" Did you mean ")
    sentence = sentence.rstrip(".?") + (f"; did you mean {meant}" if guess else "")
    context = getattr(error, "ctx", None)
    if context is None:
        return sentence
    return f"{sentence}{' See' if guess else '; see'} `{context.command_path} --help`"


def _failed(argv: Sequence[str], sentence: str, code: int, needs: tuple[ConfirmationNeed, ...] = ()) -> int:
    note(f"loop: {sentence}")
    if "--json" in argv:
        put_json(ErrorAnswer(error=sentence, exit_code=code, needs=needs))
    return code


def _crashed(error: Exception, here: Here) -> str:
    """One sentence about what nobody planned; the traceback goes to a file, or to the screen if asked for."""
    trace = "".join(traceback.format_exception(error))
    if here.environ.get("LOOP_DEBUG") == "1":
        note(trace.rstrip("\n"))
    said = f"unexpected {type(error).__name__}: {error}".strip().splitlines()[0]
    try:
        file = _crash_folder(here.cwd) / f"crash-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{os.getpid()}.txt"
        file.write_text(trace, encoding="utf-8", errors="backslashreplace")
    except OSError:
        return f"{said}; this is a defect of Loopwright, LOOP_DEBUG=1 shows where"
    return f"{said}; this is a defect of Loopwright, the traceback is in {file}"


def _crash_folder(cwd: Path) -> Path:
    """The state folder of the repository around `cwd`; without one, the folder for temporary files."""
    import tempfile  # noqa: PLC0415 - only a crash needs it

    folders = (folder / STATE_FOLDER for folder in (cwd, *cwd.parents))
    return next((folder for folder in folders if folder.is_dir()), Path(tempfile.gettempdir()))


if __name__ == "__main__":
    main()
