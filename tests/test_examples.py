"""The examples are run as anybody would run them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run_example(name: str) -> str:
    done = subprocess.run([sys.executable, str(ROOT / "examples" / name)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_polite_example_ends_verified_at_the_second_try() -> None:
    said = run_example("polite.py")
    assert re.fullmatch(r"verified after 2 iterations on branch loop/make-greet-polite-[0-9a-f]{6}\n", said)


def test_the_stories_example_completes_a_plan_of_three_tasks() -> None:
    *parts, last = run_example("stories.py").splitlines()
    assert parts == [
        "T-001: Write story/hero.py: verified",
        "T-002: Write story/place.py: verified",
        "T-003: Write story/tale.py: verified",
    ]
    assert re.fullmatch(r"verified after 3 iterations on branch loop/write-the-modules-of-the-[0-9a-f]{6}", last)


def test_the_review_example_tells_what_came_of_each_artifact() -> None:
    *parts, last = run_example("review.py").splitlines()
    assert parts == [
        "bread.md: reviewed after 1 review",
        "cake.md: escalated after 2 reviews",
        "soup.md: reviewed after 2 reviews",
    ]
    assert re.fullmatch(r"escalated; what passed is on branch loop/review-bread-md-[a-z0-9-]+", last)
