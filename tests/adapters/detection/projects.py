"""Small copies of the shapes of public projects: a handful of files, and programs that only have names."""

from collections.abc import Mapping
from pathlib import Path

from loopwright.adapters.detection.stacks import detect
from loopwright.adapters.detection.ways import Ask, Detected, Look


def look(folder: Path, files: Mapping[str, str], *programs: str, ask: Ask = lambda _argv: "", **environ: str) -> Look:
    """A look at a project with these files, where these programs are on the PATH."""
    for path, text in files.items():
        write(folder / "project" / path, text)
    for name in programs:
        program(folder / "bin" / name)
    (folder / "project").mkdir(exist_ok=True)
    return Look(root=folder / "project", environ={"PATH": str(folder / "bin"), **environ}, ask=ask)


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def program(file: Path) -> None:
    """Each with its own text, so that no two are the same file."""
    write(file, f"#!/bin/sh\n# {file}\n")
    file.chmod(0o755)


def virtual_environment(folder: Path) -> None:
    write(folder / "pyvenv.cfg", "home = /usr/bin\n")
    program(folder / "bin" / "python")


def ways(found: Detected, name: str) -> list[str]:
    """Every way to run a check, as it would be typed."""
    return [" ".join(way.check.run) for each in found.prospects if each.name == name for way in each.ways]


def first(seen: Look) -> dict[str, str]:
    """The way of each check that is tried first."""
    found = detect(seen)
    return {each.name: ways(found, each.name)[0] for each in found.prospects}
