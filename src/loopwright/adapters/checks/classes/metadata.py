"""Changes of a manifest or a lock that alter only metadata: a version, a description, a licence, a link.

Both versions are compared as parsed data. `setup.py`, and what cannot be parsed, always decides what is installed.
"""

from __future__ import annotations

import configparser
import json
import posixpath
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from loopwright.kernel.trust import Classed

_PROJECT = frozenset(
    {"version", "description", "readme", "authors", "maintainers", "license", "keywords", "classifiers", "urls"}
)
_LINKS = frozenset({"homepage", "repository", "documentation"})
_CARGO = (_PROJECT | _LINKS | {"license-file", "categories"}) - {"classifiers", "urls"}
_NPM = frozenset({"version", "description", "author", "contributors", "maintainers", "license", "keywords"})
_NPM |= {"homepage", "repository", "bugs", "funding"}
_SETUP_CFG = frozenset({"version", "description", "long_description", "long_description_content_type", "author"})
_SETUP_CFG |= {"author_email", "maintainer", "maintainer_email", "license", "keywords", "classifiers", "url"}
_SETUP_CFG |= {"project_urls"}

_VERSION = re.compile(r"(?<![\w.])\d+\.\d+[\w.+-]*")
Data = dict[str, Any]


def changes_only_metadata(path: str, before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Return whether nothing but metadata differs between the texts of a manifest or a lock."""
    strip = _READERS.get(posixpath.basename(path))
    if strip is None or path not in before or path not in after:
        return False
    try:
        return repr(strip(before[path])) == repr(strip(after[path]))  # the order of keys counts, and 1 is not True
    except (ValueError, RecursionError, AttributeError, TypeError, configparser.Error):
        return False  # it is not what its name says


def mark_shared_versions(
    classed: tuple[Classed, ...], before: Mapping[str, str], after: Mapping[str, str]
) -> tuple[Classed, ...]:
    """Mark each protected manifest in which a version changed from one number to another, as in a file that lands."""
    held = {each.change.path for each in classed if each.is_manifest and each.is_gated}
    if not held:
        return classed
    changed = {each.change.path: _changed_versions(each.change.path, before, after) for each in classed}
    landed = [changed[each.change.path] for each in classed if not each.is_gated]
    halves = {path for path in held for old, new in landed if old & changed[path][0] and new & changed[path][1]}
    return tuple(replace(each, shares_version=each.change.path in halves) for each in classed)


def _changed_versions(path: str, before: Mapping[str, str], after: Mapping[str, str]) -> tuple[set[str], set[str]]:
    old, new = (set(_VERSION.findall(texts.get(path, ""))) for texts in (before, after))
    return old - new, new - old


def _strip_pyproject(text: str) -> Data:
    data = tomllib.loads(text)
    _drop(data.get("project", {}), _PROJECT)
    _drop(data.get("tool", {}).get("poetry", {}), _PROJECT | _LINKS)
    return data


def _strip_cargo(text: str) -> Data:
    data = tomllib.loads(text)
    _drop(data.get("package", {}), _CARGO)
    _drop(data.get("workspace", {}).get("package", {}), _CARGO)
    return data


def _strip_package(text: str) -> Data:
    data = json.loads(text)
    _drop(data, _NPM)
    return data  # type: ignore[no-any-return]


def _strip_setup_cfg(text: str) -> Data:
    if any(len(line.splitlines()) > 1 for line in text.split("\n")):
        raise ValueError("pytest ends a line where others do not")
    parser = configparser.RawConfigParser()
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text)
    data = {name: dict(parser.items(name)) for name in parser.sections()} | {"DEFAULT": dict(parser.defaults())}
    metadata = data.get("metadata", {})
    # `attr:` names code that an installation runs.
    _drop(metadata, {key for key in _SETUP_CFG if not metadata.get(key, "").strip().startswith("attr:")})
    return data


def _strip_npm_lock(text: str) -> Data:
    data = json.loads(text)
    data.pop("version", None)
    for place, package in data.get("packages", {}).items():
        if "node_modules/" not in place:
            _drop(package, {"version", "license"})
    return data  # type: ignore[no-any-return]


def _strip_own(text: str, is_own: Callable[[Data], object]) -> Data:
    data = tomllib.loads(text)
    for package in filter(is_own, data.get("package", [])):
        package.pop("version", None)
    return data


def _drop(table: Data, keys: frozenset[str] | set[str]) -> None:
    for key in keys & table.keys():
        del table[key]


_READERS: Mapping[str, Callable[[str], Data]] = {
    "pyproject.toml": _strip_pyproject,
    "Cargo.toml": _strip_cargo,
    "package.json": _strip_package,
    "setup.cfg": _strip_setup_cfg,
    "package-lock.json": _strip_npm_lock,
    "npm-shrinkwrap.json": _strip_npm_lock,
    "uv.lock": lambda text: _strip_own(text, lambda each: {"editable", "virtual"} & each.get("source", {}).keys()),
    "Cargo.lock": lambda text: _strip_own(text, lambda each: "source" not in each),
}
