"""Proposals to merge as files: `.loop/pulls/<n>.json` for the engine, `<n>.md` beside it for people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from loopwright.adapters.files import locked_file, made, read_regular, write_whole
from loopwright.errors import ConfigError
from loopwright.kernel.codec import DecodeError, decode, plain
from loopwright.kernel.visible import visible

_LARGEST = 4 << 20  # bytes of one proposal


@dataclass(frozen=True, slots=True, kw_only=True)
class Pull:
    """As `.loop/pulls/<n>.json` has it. `head` is the commit that was proposed last."""

    number: int
    branch: str
    target: str
    title: str = ""
    body: str = ""
    head: str = ""
    draft: bool = False
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()


class PullFiles:
    def __init__(self, root: Path) -> None:
        self._folder = made(root, root / ".loop" / "pulls")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """A number is given once, whoever else proposes something at this moment."""
        with locked_file(self._folder / ".lock"):
            yield

    def url(self, pull: Pull) -> str:
        """Where a person reads it."""
        return f".loop/pulls/{pull.number}.md" if pull.number else ""

    def all(self) -> tuple[Pull, ...]:
        """In the order of their numbers. Raises `ConfigError` where one cannot be read: its number may be its own."""
        names = (path for path in self._folder.glob("*.json") if path.stem.isdecimal())
        return tuple(map(_read, sorted(names, key=lambda path: int(path.stem))))

    def keep(self, pull: Pull) -> None:
        text = json.dumps(plain(pull), ensure_ascii=False, indent=2)
        write_whole(self._folder / f"{pull.number}.json", f"{text}\n")
        write_whole(self._folder / f"{pull.number}.md", as_page(pull))


def _read(path: Path) -> Pull:
    content = read_regular(path, _LARGEST)
    if content is None or len(content) > _LARGEST:
        raise ConfigError(str(path), "", "cannot be read; remove it, and the proposal is made anew")
    try:
        return decode(Pull, content.decode("utf-8", "backslashreplace"))
    except DecodeError as error:
        raise ConfigError(str(path), "", f"{error}; mend it, or remove it and the proposal is made anew") from error


def as_page(pull: Pull) -> str:
    facts = [
        f"Merge `{pull.branch}` into `{pull.target}`" + (", not to be merged yet (draft)." if pull.draft else "."),
        f"Proposed: `{pull.head}`. To see it: `git diff {pull.target}...{pull.branch}`",
        *([f"Labels: {', '.join(pull.labels)}"] if pull.labels else []),
        *([f"To be looked at by: {', '.join(pull.reviewers)}"] if pull.reviewers else []),
    ]
    said = [f"---\n\n{comment.strip()}" for comment in pull.comments]
    parts = [f"# #{pull.number} {pull.title}".rstrip(), "  \n".join(facts), pull.body.strip(), *said]
    return visible("\n\n".join(part for part in parts if part)) + "\n"
