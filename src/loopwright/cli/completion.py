"""`loop completion`: the completion script for a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from loopwright.app.views.answers import CompletionScript
from loopwright.cli.output import json_option, put, put_json

_HOW = {
    "bash": 'eval "$(loop completion bash)" in ~/.bashrc',
    "zsh": 'eval "$(loop completion zsh)" in ~/.zshrc',
    "fish": "loop completion fish > ~/.config/fish/completions/loop.fish",
}


@click.command("completion")
@click.argument("shell", type=click.Choice(list(_HOW)))
@json_option(CompletionScript)
def command(*, shell: str, as_json: bool) -> int:
    """The completion script for a shell.

    \b
    bash: eval "$(loop completion bash)" in ~/.bashrc
    zsh:  eval "$(loop completion zsh)" in ~/.zshrc
    fish: loop completion fish > ~/.config/fish/completions/loop.fish
    """
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"no completion for {shell}")
    script = found(click.Group("loop"), {}, "loop", "_LOOP_COMPLETE").source()
    put_json(CompletionScript(shell, _HOW[shell], script)) if as_json else put(script)
    return 0
