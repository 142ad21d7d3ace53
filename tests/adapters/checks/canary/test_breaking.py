import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from loopwright.adapters.checks.canary.breaking import language, unparsable

PARSERS = {
    "a.py": (sys.executable, "-m", "py_compile"),
    "a.sh": ("sh",),
    "a.bash": ("bash",),
    "a.js": ("node", "--check"),
    "a.mjs": ("node", "--check"),
    "a.c": ("cc", "-fsyntax-only"),
    "a.h": ("cc", "-fsyntax-only"),
    "a.cpp": ("c++", "-fsyntax-only"),
    "a.rb": ("ruby", "-c"),
    "a.php": ("php", "-l"),
    "a.pl": ("perl", "-c"),
    "a.rs": ("rustc", "--emit=metadata"),
    "a.go": ("gofmt", "-l"),
    "a.lua": ("luac", "-p"),
}


@pytest.mark.parametrize("name", PARSERS)
def test_no_parser_takes_a_broken_file(name: str, tmp_path: Path) -> None:
    command = PARSERS[name]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    (tmp_path / name).write_bytes(unparsable((name,))[name])
    assert subprocess.run([*command, name], cwd=tmp_path, capture_output=True, check=False).returncode != 0


def test_data_texts_and_declarations_are_left_alone() -> None:
    assert unparsable(("a.json", "b.md", "c.d.ts", "py.typed", "stub.pyi", "Makefile", "d.css")) == {}
    assert unparsable(("A.PY", "b.tsx", "c.vue")).keys() == {"A.PY", "b.tsx", "c.vue"}
    assert language("x/y.py") == language("z.PY") == "python"
