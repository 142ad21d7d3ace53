"""The interpreter that checks of the tests run with."""

import sys

# A check compiles all it imports in its first run on a base, and every test has a base of its own. What is known to be
# compiled already serves as well where compiling is not what a test is about.
WARM_PYTHON = (sys.executable, "-X", "pycache_prefix")
