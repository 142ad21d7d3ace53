"""A check that numbers its runs, and in the midst of the one it was told of kills the controller: no test.

It is started by the engine as `python deadly.py --report …`; what it runs is the runner of every other check here.
"""

import importlib.util
import os
import runpy
import signal
import time
from pathlib import Path

RUNNER = "loopwright.adapters.checks.unittest_report"
GRACE = 60  # seconds within which whoever guards this run has ended it


def main() -> None:
    notes = Path(os.environ["NOTES"])
    with (notes / "checks").open("ab", buffering=0) as file:
        file.write(b".\n")
        number = file.tell() // 2
    deadly = notes / "deadly"
    if deadly.exists() and int(deadly.read_text()) == number:
        deadly.unlink()
        os.kill(int((notes / "controller").read_text()), signal.SIGKILL)
        time.sleep(GRACE)
    found = importlib.util.find_spec(RUNNER)
    assert found is not None
    assert found.origin
    runpy.run_path(found.origin, run_name="__main__")


if __name__ == "__main__":
    main()
