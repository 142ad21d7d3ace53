"""A small Python project with an environment of its own, for figures of verification that need no network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.sample import git

_CONFIG = """version = 1
[checks.test]
run = [".venv/bin/python", "-m", "unittest", "discover", "-s", "tests", "-t", "."]
[workspace]
product = ["calc/**"]
tests = ["tests/**"]
"""
_FILES = {
    "calc/__init__.py": "def mul(a, b):\n    result = a * b\n    return result\n",
    "tests/__init__.py": "",
    "tests/test_calc.py": "import unittest\n\nfrom calc import mul\n\n\nclass TestMul(unittest.TestCase):\n"
    "    def test_mul(self):\n        self.assertEqual(mul(2, 3), 6)\n",
    ".gitignore": ".venv\nnode_modules\n.loop\n__pycache__\n",
    "loop.toml": _CONFIG,
}

_LONG_TEST = """import time
import unittest


class TestLong(unittest.TestCase):
    def test_work(self):
        while time.process_time() < {seconds}:
            pass
"""


def make_project(folder: Path, *, modules: int = 0, installed: int = 0, seconds: float = 0.0) -> Path:
    """Make a repository with so many further modules and files in `node_modules`, whose tests take so long."""
    root = folder / "project"
    more = {f"calc/part_{number // 100}/module_{number}.py": f"VALUE = {number}\n" for number in range(modules)}
    more["tests/test_long.py"] = _LONG_TEST.format(seconds=seconds)
    for path, text in (_FILES | more).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    if installed:
        (root / "loop.toml").write_text(_CONFIG + 'copy = ["node_modules"]\n')
    for number in range(installed):
        package = root / "node_modules" / f"package-{number // 20}"
        package.mkdir(parents=True, exist_ok=True)
        (package / f"file-{number}.js").write_text(f"module.exports = {number};\n" * 40)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", ".venv"], cwd=root, check=True)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "begin")
    return root
