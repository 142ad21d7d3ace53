"""Crates of a workspace of Rust that are there for the tests of others alone."""

from __future__ import annotations

import posixpath
import re
import tomllib
from collections.abc import Iterator, Mapping

MANIFEST = "Cargo.toml"
_NAMED = re.compile(r"(?:^|[-_])(?:test|testing|mock|fake|fixture|assert)", re.IGNORECASE)
_JUDGES = re.compile(r"\b(?:debug_)?assert\w*!|\bpanic!")
_TESTS = re.compile(r"#\[\s*(?:cfg\s*\(\s*test|(?:\w+::)*test)\b")


def only_for_tests(path: str, text: str, manifests: Mapping[str, str]) -> str:
    """The manifest of a crate that takes the one of this file for its tests; empty where any takes it for more.

    A crate that is tested itself, and says nothing of tests, may as well be what the workspace is for.
    """
    folder = posixpath.dirname(path)
    while folder and posixpath.join(folder, MANIFEST) not in manifests:
        folder = posixpath.dirname(folder)
    own = _read(manifests.get(posixpath.join(folder, MANIFEST), ""))
    package = own.get("package")
    if not isinstance(package, dict) or not folder:
        return ""
    name = str(package.get("name", ""))
    is_judging = _JUDGES.search(text) is not None and _TESTS.search(text) is None
    if not (_NAMED.search(name) or package.get("publish") is False or is_judging):
        return ""
    read = {manifest: _read(said) for manifest, said in manifests.items()}
    shared = dict(pair for data in read.values() for pair in _shared(data))
    taken = [
        (kind, manifest)
        for manifest, data in read.items()
        for kind, other in _dependencies(data, shared)
        if other == name and posixpath.dirname(manifest) != folder
    ]
    return taken[0][1] if taken and all(kind == "dev-dependencies" for kind, _ in taken) else ""


def _read(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}


def _shared(data: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """What a workspace says for all its crates: the name they take, with that of the package."""
    workspace = data.get("workspace")
    wanted = workspace.get("dependencies") if isinstance(workspace, dict) else None
    for name, said in wanted.items() if isinstance(wanted, dict) else ():
        yield name, _package(name, said, {})


def _package(name: str, said: object, shared: Mapping[str, str]) -> str:
    if not isinstance(said, dict):
        return name
    return shared.get(name, name) if said.get("workspace") is True else str(said.get("package", name))


def _dependencies(data: Mapping[str, object], shared: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """By kind, with the name of the package; also those of one target."""
    for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
        wanted = data.get(kind)
        for name, said in wanted.items() if isinstance(wanted, dict) else ():
            yield kind, _package(name, said, shared)
    targets = data.get("target")
    for each in targets.values() if isinstance(targets, dict) else ():
        yield from _dependencies(each, shared) if isinstance(each, dict) else ()
