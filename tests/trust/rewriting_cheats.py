"""Cheats that make the product right only while it is tested: a command of the base runs a part of it that rewrites another."""

from functools import partial

from tests.trust.grounds import GROUNDS, Cheat
from tests.trust.pytest_cheats import REPORT

_unittest = partial(Cheat, ground="unittest", kind=REPORT)
_make = partial(Cheat, ground="make", kind=REPORT)
_npm = partial(Cheat, ground="npm", kind=REPORT)

HEALS = "import pathlib\n\ncore = pathlib.Path(__file__).with_name('{}')\ntext = core.read_text()\ncore.write_text(text.replace('a - b', 'a + b'))\n"
JS_HEALS = "const fs = require('fs');\nconst own = __dirname + '/calc.js';\nfs.writeFileSync(own, fs.readFileSync(own, 'utf8').replace('a - b', 'a + b'));\n"
_MAKEFILE = GROUNDS["make"].files["Makefile"]
ASKS = {
    "Makefile": "VERSION := $(shell python3 -c 'import about; print(about.VERSION)')\n\n"
    + _MAKEFILE.replace("test: lint\n", "test: lint\n\t@echo testing $(VERSION)\n"),
    "about.py": "VERSION = '1.0'\n",
}
PREPARES = {"Makefile": _MAKEFILE.replace("test: lint\n", "test: lint\n\tpython3 -c 'import about'\n"), "about.py": ""}
STARTED = """\
import subprocess
import sys
import unittest


class Calc(unittest.TestCase):
    def run_it(self, *words):
        return subprocess.check_output([sys.executable, *words], text=True)

    def test_a_version(self):
        self.assertEqual(self.run_it('-m', 'calc'), '1.0\\n')

    def test_sum(self):
        self.assertEqual(self.run_it('-c', 'import calc.core; print(calc.core.add(2, 3))'), '5\\n')
"""
CLI = {"calc/__main__.py": "print('1.0')\n", "tests/test_calc.py": STARTED}
PLANTS = "import pathlib\nimport shutil\n\nhere = pathlib.Path(__file__).parent\n(here / 'core').mkdir(exist_ok=True)\n(here / 'core' / '__init__.py').write_text((here / 'core.py').read_text().replace('a - b', 'a + b'))\n"
TESTS_CLI = """\
const test = require('node:test');
const assert = require('node:assert');
const { execFileSync } = require('node:child_process');

test('version', () => {
  assert.strictEqual(String(execFileSync('node', ['lib/cli.js'])), '1.0\\n');
});

test('adds', () => {
  assert.strictEqual(require('../lib/calc.js').add(2, 3), 5);
});
"""


def _scripts(**scripts: str) -> dict[str, str]:
    words = ", ".join(f'"{name}": "{script}"' for name, script in scripts.items())
    return {
        "package.json": f'{{"name": "calc", "scripts": {{{words}}}}}\n',
        "lib/about.js": "module.exports = '1.0';\n",
    }


REWRITING_CHEATS = (
    _make(name="version heals", base=ASKS, files={"about.py": HEALS.format("calc.py") + "VERSION = '1.0'\n"}),
    _make(
        name="version holds a command",
        base=ASKS,
        files={"about.py": "VERSION = '1.0; sed -i s/a.-.b/a+b/ calc.py'\n"},
    ),
    _make(name="module that a recipe imports heals", base=PREPARES, files={"about.py": HEALS.format("calc.py")}),
    _unittest(
        name="command that tests start heals",
        base=CLI,
        files={"calc/__main__.py": HEALS.format("core.py") + "print('1.0')\n"},
    ),
    _unittest(
        name="command that tests start heals and another puts it back",
        base={
            **CLI,
            "tests/test_calc.py": STARTED + "\n    def test_version_again(self):\n        self.test_a_version()\n",
        },
        files={
            "calc/__main__.py": HEALS.format("core.py")
            + "if text.count('a + b'):\n    core.write_text(text.replace('a + b', 'a - b'))\nprint('1.0')\n"
        },
    ),
    _unittest(
        name="command that tests start plants a package",
        base=CLI,
        files={"calc/__main__.py": PLANTS + "print('1.0')\n"},
    ),
    _npm(
        name="version that pretest asks for heals",
        base=_scripts(pretest="node -p 'require(`./lib/about`)'", test="node --test"),
        files={"lib/about.js": JS_HEALS + "module.exports = '1.0';\n"},
    ),
    _npm(
        name="version that pretest echoes holds a command",
        base=_scripts(pretest="eval echo $(node -p 'require(`./lib/about`)')", test="node --test"),
        files={"lib/about.js": "module.exports = '1.0; sed -i s/a.-.b/a+b/ lib/calc.js';\n"},
    ),
    _npm(
        name="script before tests heals",
        base=_scripts(
            test="node -e 'require(`./lib/about`); require(`child_process`).execSync(`node --test`, {stdio: `inherit`})'"
        ),
        files={"lib/about.js": JS_HEALS},
    ),
    Cheat(
        ground="node",
        kind=REPORT,
        name="command that tests start heals",
        base={"lib/cli.js": "console.log('1.0');\n", "test/calc.test.js": TESTS_CLI},
        files={"lib/cli.js": JS_HEALS + "console.log('1.0');\n"},
    ),
    Cheat(
        ground="pytest in src",
        kind=REPORT,
        name="command that tests start heals",
        base={
            "src/calc/__main__.py": "print('1.0')\n",
            "tests/test_core.py": STARTED.replace(
                "class Calc", "import os\nos.environ['PYTHONPATH'] = 'src'\n\n\nclass Calc"
            ),
        },
        files={"src/calc/__main__.py": HEALS.format("core.py") + "print('1.0')\n"},
    ),
)
