"""mypy and tsc: whether the types of Python and of TypeScript agree."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

from loopwright.adapters.tools.artifacts import within
from loopwright.adapters.tools.opinions import Garbled, ToolOpinion, crashed, parsed, shown, text, whole
from loopwright.adapters.tools.plan import ToolPlan
from loopwright.adapters.tools.python_project import declares, environment_python
from loopwright.adapters.tools.severities import HIGH, NOT_INSTALLED, of_mypy
from loopwright.adapters.tools.workshop import ToolRan, Workshop, argument
from loopwright.kernel.model import Finding
from loopwright.kernel.visible import visible_bytes

_JSON = "--output=json"
REPORTING = (
    "--no-error-summary",
    "--show-error-codes",
    "--no-color-output",
    "--no-pretty",
    "--cache-dir=/dev/null",
)
_MODULE = re.compile(r'module named "([^"]+)"')
_LINE = re.compile(rb"^(?P<file>.+?):(?P<line>\d+): error: (?P<message>.*?)(?:  \[(?P<code>[a-z-]+)\])?$", re.MULTILINE)
# Two files of one name in folders that are no packages: mypy judges neither unless it counts folders as part of names.
_SAME_NAME = (b"Duplicate module named", b"Source file found twice")
_BY_FOLDER = ("--explicit-package-bases", "--namespace-packages")
_TSC = re.compile(
    r"^(?P<file>.+?)\((?P<line>\d{1,9}),\d{1,9}\): error (?P<code>TS\d{1,6}): (?P<issue>.*)$", re.MULTILINE
)
_GUIDANCE = {
    "syntax": "Mend the syntax at this place; nothing else in the file can be judged before.",
    "name-defined": "Define or import the name before it is used, or correct its spelling.",
    "import-not-found": "Import what exists: correct the name, or add the package to the project's dependencies.",
    NOT_INSTALLED: "Install the project's dependencies where the review runs, so that the import can be checked.",
    "import-untyped": "Install the stubs that the message names, or add them to the development dependencies.",
    "arg-type": "Pass a value of the type that the parameter declares, or correct the declaration if that is wrong.",
    "return-value": "Return a value of the declared type, or correct the declaration if that is wrong.",
    "attr-defined": "Use an attribute that the type has, or declare it there.",
    "union-attr": "Handle the other case, often None, before the attribute is used.",
    "assignment": "Assign a value of the declared type, or declare the variable with the type it really holds.",
}


async def mypy(shop: Workshop, files: tuple[str, ...], plan: ToolPlan) -> ToolOpinion:
    """Modules are looked up where the project's own Python has them, without one where mypy's own has."""
    program = shop.find("mypy")
    if program is None:
        return ToolOpinion(tool="mypy", missing="mypy")
    python = environment_python(shop, plan)
    options = (_JSON, *REPORTING, *((f"--python-executable={python}",) if python else ()))
    ran = await _run(shop, program, options, files)
    if any(words in ran.stdout + ran.stderr for words in _SAME_NAME):
        ran = await _run(shop, program, (*options, *_BY_FOLDER), files)
    if b"unrecognized arguments: " + _JSON.encode() in ran.stderr:  # a version before 1.11
        ran = await _run(shop, program, options[1:], files)
        ran = replace(ran, stdout=_as_json(ran.stdout))
    try:
        found = _read_mypy(ran.stdout, shop.folder)
    except Garbled as error:
        return crashed("mypy", files, ran, str(error))
    if ran.code not in (0, 1) and not found:
        return crashed("mypy", files, ran)
    return ToolOpinion(tool="mypy", files=files, findings=tuple(each for each in found if each.file in files))


async def _run(shop: Workshop, program: str, options: tuple[str, ...], files: tuple[str, ...]) -> ToolRan:
    inner = shop.folder / "src"
    env = {"MYPYPATH": str(inner)} if inner.is_dir() and not (inner / "__init__.py").exists() else {}
    return await shop.run(program, *options, "--", *map(argument, files), env=env)


def _as_json(content: bytes) -> bytes:
    """Lines for people, as older versions write them, as lines of JSON."""
    found = (match.groupdict(b"") for match in _LINE.finditer(content))
    rows = ({name: value.decode("utf-8", "replace") for name, value in each.items()} for each in found)
    lines = (json.dumps(row | {"line": int(row["line"]), "severity": "error"}) for row in rows)
    return "\n".join(lines).encode()


def _read_mypy(content: bytes, folder: Path) -> tuple[Finding, ...]:
    """One JSON object a line; notes explain other lines and are no findings."""
    found = (_row(line) for line in content.splitlines() if line.strip())
    return tuple(_finding(row, folder) for row in found if text(row, "severity") == "error")


def _row(line: bytes) -> dict[str, object]:
    row = parsed(line)
    if not isinstance(row, dict):
        raise Garbled("its output has a line that is no object")
    return row


def _code(row: dict[str, object], folder: Path) -> str:
    """mypy's own, or ours for a module that the project depends on but the machine of this review lacks."""
    code = text(row, "code") or "misc"
    module = _MODULE.search(text(row, "message"))
    return NOT_INSTALLED if code == "import-not-found" and module and declares(folder, module[1]) else code


def _finding(row: dict[str, object], folder: Path) -> Finding:
    code = _code(row, folder)
    usual = f"Make the types agree as the message says (mypy code {code}), without silencing it."
    hint = f" {said}" if (said := text(row, "hint")) else ""
    found = Finding(
        severity=of_mypy(code),
        category="types",
        rule=code,
        file=within(folder, text(row, "file")),
        line=whole(row, "line"),
        issue=text(row, "message") or code,
        guidance=_GUIDANCE.get(code, usual) + hint,
    )
    return shown(folder, found)


async def tsc(shop: Workshop, files: tuple[str, ...]) -> ToolOpinion:
    """The whole project by its own tsconfig.json: a file alone would be judged by other options than the project's."""
    program = shop.find("tsc")
    if program is None:
        return ToolOpinion(tool="tsc", missing="tsc")
    if not (shop.folder / "tsconfig.json").is_file():
        return ToolOpinion(tool="tsc", missing="tsconfig.json for tsc")
    ran = await shop.run(program, "--noEmit", "--pretty", "false")
    found = _read_tsc(ran.stdout, shop.folder)
    if ran.code is None or (ran.code != 0 and not found):
        return crashed("tsc", files, ran)
    return ToolOpinion(tool="tsc", files=files, findings=tuple(each for each in found if each.file in files))


def _read_tsc(content: bytes, folder: Path) -> tuple[Finding, ...]:
    return tuple(_error(match, folder) for match in _TSC.finditer(visible_bytes(content)))


def _error(match: re.Match[str], folder: Path) -> Finding:
    found = Finding(
        severity=HIGH,
        category="types",
        rule=match["code"],
        file=within(folder, match["file"]),
        line=int(match["line"]),
        issue=match["issue"],
        guidance=f"Make the types agree as the message says ({match['code']}), without silencing it.",
    )
    return shown(folder, found)
