"""The examples are run as anybody would run them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_polite_example_ends_verified_at_the_second_try() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "polite.py")], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert re.fullmatch(r"verified after 2 iterations on branch loop/make-greet-polite-[0-9a-f]{6}\n", done.stdout)
