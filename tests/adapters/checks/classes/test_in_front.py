"""A new file that is found in front of one that stays, and the many that are not."""

import pytest

from tests.adapters.checks.classes.held import classes

TS = {"src/calc.ts": "x\n", "src/view.tsx": "x\n", "test/calc.test.ts": "import { add } from '../src/calc';\n"}
TS_BY_JS = {**TS, "test/calc.test.ts": "import {\n  add,\n} from '../src/calc.js';\n"}
JS = {"lib/calc.js": "x\n", "test/calc.test.js": "const { add } = require('../lib/calc');\n"}
BY_SUFFIX = {**JS, "test/calc.test.js": "const { add } = require('../lib/calc.js');\n"}
FOLDER = {"lib/calc/index.js": "x\n", "test/calc.test.js": "jest.mock('../lib/calc');\n"}
PY = {"calc.py": "x = 1\n", "tests/helpers.py": "x = 1\n", "tests/test_calc.py": "import calc\n"}


@pytest.mark.parametrize(
    ("base", "path", "held"),
    [
        (TS, "src/calc.js", "src/calc.ts"),
        (TS, "src/calc.mjs", "src/calc.ts"),
        (TS_BY_JS, "src/calc.js", "src/calc.ts"),
        ({**TS, "src/app.ts": "export * from './view';\n"}, "src/view.ts", "src/view.tsx"),
        (JS, "lib/calc.mjs", "lib/calc.js"),
        (FOLDER, "lib/calc.js", "lib/calc/index.js"),
        (FOLDER, "lib/calc.json", "lib/calc/index.js"),
        (FOLDER, "lib/calc/index.mjs", "lib/calc/index.js"),
        (JS, "lib/calc", "lib/calc.js"),
        ({**JS, "lib/a.b.json": "1", "lib/x.js": "require('./a.b');\n"}, "lib/a.b", "lib/a.b.json"),
        (PY, "calc/__init__.py", "calc.py"),
        (PY, "tests/helpers/__init__.py", "tests/helpers.py"),
    ],
)
def test_a_file_in_front_of_another_is_a_judges(base: dict[str, str], path: str, held: str) -> None:
    found = classes(base, {path: "y\n"})[path]
    assert (found.kind, found.why) == ("judge", f"would be found in front of {held}")


@pytest.mark.parametrize(
    ("base", "changed", "path"),
    [
        (TS, {"src/calc.ts": None, "src/calc.js": "y\n"}, "src/calc.js"),  # it became another
        (JS, {"lib/calc.js": None, "lib/calc.ts": "y\n"}, "lib/calc.ts"),
        (FOLDER, {"lib/calc/index.js": None, "lib/calc.js": "y\n"}, "lib/calc.js"),
        (PY, {"calc.py": None, "calc/__init__.py": "y = 1\n"}, "calc/__init__.py"),
        (BY_SUFFIX, {"lib/calc.mjs": "y\n"}, "lib/calc.mjs"),  # who loads the other says so
        (JS, {"lib/calc.ts": "y\n"}, "lib/calc.ts"),  # comes after it
        (JS, {"lib/calc/index.js": "y\n"}, "lib/calc/index.js"),
        (JS, {"lib/sub.js": "y\n"}, "lib/sub.js"),
        (TS, {"src/view.ts": "y\n"}, "src/view.ts"),  # nobody asks for it
        (JS, {"lib/calc.js": None, "lib/calc": "y\n"}, "lib/calc"),
        (JS, {"lib/sub": "y\n"}, "lib/sub"),
        ({**JS, "lib/units.json": "1"}, {"lib/units": "y\n"}, "lib/units"),
        ({**PY, "lib/calc.py": "x = 1\n"}, {"lib/calc": "y\n"}, "lib/calc"),  # Python completes every name
        (PY, {"calc/more.py": "y = 1\n"}, "calc/more.py"),  # a folder alone hides no module
    ],
)
def test_a_file_of_its_own_is_product(base: dict[str, str], changed: dict[str, str | None], path: str) -> None:
    assert classes(base, changed)[path].kind == "product"


@pytest.mark.parametrize(
    ("base", "kind"),
    [
        ({**JS, "bin/calc.js": "x\n"}, "product"),
        ({**JS, "bin/calc.js": "require(path.join('..', 'lib', 'calc'))\n"}, "judge"),
        ({**JS, "bin/calc.js": "x\n", "package.json": '{"main": "./bin/calc"}'}, "judge"),
    ],
)
def test_a_program_beside_the_script_it_starts_hides_it_from_whoever_says_its_name(
    base: dict[str, str], kind: str
) -> None:
    base = {**base, "test/calc.test.js": "const { add } = require('../lib/calc.js');\n"}
    found = classes(base, {"bin/calc": "#!/bin/sh\n"}, modes={"bin/calc": "100755"})
    assert found["bin/calc"].kind == kind
