"""Data outside of tests that decides what tests expect, and data that does not."""

import pytest

from tests.adapters.checks.classes.held import Files, classes

PYTEST = ("python", "-m", "pytest")
CODE = "def add(a, b):\n    return a + b\n"
DATA = "[[2, 3, 5]]\n"
BENT = "[[2, 3, -1]]\n"


RUNS = "for d in sorted({}):\n    exec(blocks(d), {{}})\n"
LISTS = "HERE = ROOT / 'calc'\n\n\ndef all_of(kind):\n    for file in (HERE / kind).iterdir():\n        yield file\n"
COLLECTS = """\
def pytest_collect_file(parent, file_path):
    if file_path.suffix == ".yaml" and file_path.name.startswith("test"):
        return Sums.from_parent(parent, path=file_path)
"""


def python(data: str, test: str) -> Files:
    held = f"# Sums\n\n```\n{DATA}```\n" if data.endswith((".md", ".rst")) else DATA
    return {"calc/__init__.py": CODE, "calc/data/words.txt": "a\n", "tests/test_calc.py": test, data: held}


def crate(data: str, library: str, test: str = "") -> Files:
    return {"Cargo.toml": "", "src/lib.rs": library, "tests/add.rs": test, data: "# calc\n\n```\nassert!(true);\n```\n"}


KINDS = (
    *("geojson", "cfg", "conf", "properties", "sql", "html", "xhtml", "j2", "svg", "po", "proto", "pem", "ics", "eml"),
    *("gpx", "hex", "msg", "result", "want", "ans", "baseline", "vec", "data"),
)
OWN = ("calc/wanted/a.json", "product")
INSIDE = 'pub fn f() {}\n\n#[cfg(test)]\nmod tests {\n    const E: &str = include_str!("expected.txt");\n}\n'


@pytest.mark.parametrize(
    ("base", "path"),
    [
        (python("calc/data/expected.json", "P / 'data' / 'expected.json'"), "calc/data/expected.json"),
        (python("calc/data/expected.json", 'open("calc/data/expected.json")'), "calc/data/expected.json"),
        (python("calc/data/expected.json", "P / '../data/expected.json'"), "calc/data/expected.json"),
        (python("calc/data/expected.json", '# it\'s "expected.json"'), "calc/data/expected.json"),
        (python("docs/spec.json", "f'{ROOT}/docs/spec.json'"), "docs/spec.json"),
        (python("README.md", "run('README.md')"), "README.md"),
        (python("examples/sum.out", "E = R / 'examples'\nE.glob('*.py')\ns.with_suffix('.out')"), "examples/sum.out"),
        (python("examples/sum.out", "glob('examples/*.out')"), "examples/sum.out"),
        (python("calc/expected/sum.py", "read(R / 'expected' / 'sum.py')"), "calc/expected/sum.py"),
        (python("calc/sum.golden.sql", "read('sum.golden.sql')"), "calc/sum.golden.sql"),
        (python("calc/cases/a.json", "(ROOT / 'cases' / ('a' + '.json'))"), "calc/cases/a.json"),
        (python("calc/cases/a.json", "def a():\n    read('cases/' + name() + '.json')"), "calc/cases/a.json"),
        *((python(f"calc/cases/a.{kind}", f"open('calc/cases/a.{kind}')"), f"calc/cases/a.{kind}") for kind in KINDS),
        (python("calc/cases/basic", "(ROOT / 'calc' / 'cases' / 'basic').read_text()"), "calc/cases/basic"),
        (python("docs/a.svg", "(ROOT / 'docs' / 'a.svg').read_text()"), "docs/a.svg"),
        (python("man/calc.1", "(ROOT / 'man' / 'calc.1').read_text()"), "man/calc.1"),
        (python("calc/a.html", "HERE = Path(calc.__file__).parent\nwant = load(HERE, 'a.html')"), "calc/a.html"),
        (python("calc/sum.expected.js", "require('../calc/sum.expected')"), "calc/sum.expected.js"),
        (python("calc/want.h", '#include "want.h"'), "calc/want.h"),
        (python("calc/usage.doctest", "doctest.DocFileSuite('usage.doctest', package='calc')"), "calc/usage.doctest"),
        (python("calc/cases/a.json", "(ROOT / 'calc' / 'cases').glob('*.json')"), "calc/cases/a.json"),
        (python("calc/cases/a.json", "CASES = ROOT / 'cases'\nfor f in sorted(CASES.iterdir()):"), "calc/cases/a.json"),
        (python("calc/cases/a.json", "for f in glob.glob(\n    'calc/cases/*.json'\n):"), "calc/cases/a.json"),
        (python("calc/cases/a.json", "Path(calc.__file__).parent.rglob('*.json')"), "calc/cases/a.json"),
        (python("calc/cases/a.json", "files('calc').joinpath('cases').iterdir()"), "calc/cases/a.json"),
        (python("docs/cases/a.json", "sorted((ROOT / 'docs' / 'cases').iterdir())"), "docs/cases/a.json"),
        (python("examples/a.json", "sorted((ROOT / 'examples').iterdir())"), "examples/a.json"),
        (python("calc/cases/a.txt", 'files, _ := filepath.Glob("calc/cases/*.txt")'), "calc/cases/a.txt"),
        (python("calc/cases/a.txt", "fs.readdirSync(path.join(__dirname, '../calc/cases'))"), "calc/cases/a.txt"),
        (python("calc/cases/a.json", "read(ROOT / f'calc/cases/{name}.json')"), "calc/cases/a.json"),
        (python("calc/cases/a.json", "read(f'{ROOT}/calc/cases/{name}.json')"), "calc/cases/a.json"),
        (python("calc/cases/a.json", "read(ROOT / 'calc' / 'cases' / f'{name}.json')"), "calc/cases/a.json"),
        (python("calc/cases/a.json", "read('calc/cases/%s.json' % name)"), "calc/cases/a.json"),
        (python("calc/cases/a.json", "CASES = ROOT / 'cases'\nread(CASES / f'{n}.json')"), "calc/cases/a.json"),
        (python("calc/cases/a.json", "read(`${root}/calc/cases/${name}.json`)"), "calc/cases/a.json"),
        (python("calc/cases.json", "const cases = require('../calc/cases');"), "calc/cases.json"),
        (python("calc/cases.json", "read(require.resolve('../calc/cases'))"), "calc/cases.json"),
        (python("calc/cases/index.json", "const cases = require('../calc/cases');"), "calc/cases/index.json"),
        (python("calc/cases/ok", "(ROOT / 'calc' / 'cases' / 'ok').read_text()"), "calc/cases/ok"),
        (python("calc/cases/1", "open(os.path.join(ROOT, 'calc', 'cases', '1'))"), "calc/cases/1"),
        (python("calc/cases/a", "CASE = ROOT / 'calc/cases/a'\nCASE.read_text()"), "calc/cases/a"),
        (
            {**python("calc/wanted/a.json", ""), "tests/all.json": '{"want": "calc/wanted/a.json"}'},
            "calc/wanted/a.json",
        ),
        ({**python("calc/wanted/a.json", ""), "tests/all.txt": "2 3 wanted/a.json\n"}, "calc/wanted/a.json"),
        ({**python("calc/cases/a.json", "all_of('cases')"), "tests/aid.py": LISTS}, "calc/cases/a.json"),
        (python("calc/cases/a.json", LISTS.replace("def", "@each('kind', ['cases'])\ndef")), "calc/cases/a.json"),
        ({**python("calc/specs/test_a.yaml", ""), "conftest.py": COLLECTS}, "calc/specs/test_a.yaml"),
        (crate("src/expected.txt", INSIDE), "src/expected.txt"),
        (crate("src/e.txt", "", 'const E: &str = include_str!("../src/e.txt");'), "src/e.txt"),
    ],
)
@pytest.mark.parametrize("text", [BENT, None])
def test_what_a_test_of_the_base_compares_with_is_held_back(base: Files, path: str, text: str | None) -> None:
    command = ("cargo", "test") if "Cargo.toml" in base else PYTEST
    found = classes(base, {path: text}, command)[path]
    assert (found.kind, found.is_judged, found.is_gated) == ("changed test", False, True)


@pytest.mark.parametrize(
    ("base", "path"),
    [
        (python("docs/a.md", RUNS.format("(ROOT / 'docs').glob('**/*.md')")), "docs/a.md"),
        (python("docs/more/a.rst", RUNS.format("(ROOT / 'docs').rglob('*.rst')")), "docs/more/a.rst"),
        (python("GUIDE.md", RUNS.format("ROOT.glob('*.md')")), "GUIDE.md"),
        (crate("README.md", '#![doc = include_str!("../README.md")]\n'), "README.md"),
        (crate("README.md", '#![doc = include_str!(concat!(env!("DIR"), "/README.md"))]\n'), "README.md"),
        (crate("README.md", '#[cfg_attr(doctest, doc = include_str!("../README.md"))]\n'), "README.md"),
    ],
)
@pytest.mark.parametrize("text", [BENT, None])
def test_a_text_whose_examples_tests_run_follows_the_rules_of_tests(base: Files, path: str, text: str | None) -> None:
    command = ("cargo", "test") if "Cargo.toml" in base else PYTEST
    found = classes(base, {path: text}, command)[path]
    assert (found.kind, found.is_judged, found.is_gated) == ("test", False, False)


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("golden/a.md", "G = ROOT / 'golden'\nassert render(n) == (G / f'{n}.md').read_text()"),
        ("docs/a.md", "for p in sorted((ROOT / 'docs').glob('*.md')):\n    assert render(p.stem) == p.read_text()"),
        ("docs/a.rst", "D = Path('docs')\nassert render('a') == D.joinpath('a' + '.rst').read_text()"),
        ("A.md", "for p in ROOT.glob('*.md'):\n    assert render(p.stem) == p.read_text()"),
    ],
)
@pytest.mark.parametrize("text", [BENT, None])
def test_a_text_that_a_test_may_compare_with_judges_as_the_base_has_it_where_the_product_changes(
    path: str, test: str, text: str | None
) -> None:
    base = python(path, test)
    changed = classes(base, {path: text, "calc/__init__.py": CODE + "b = 1\n"}, PYTEST)[path]
    assert (changed.kind, changed.is_judged, changed.is_gated) == ("test", False, False)
    assert classes(base, {path: text}, PYTEST)[path].kind == "text"


@pytest.mark.parametrize(
    "test",
    [
        "run('examples/sum.py')",
        "E = R / 'examples'\nE.glob('*.py')",
        "for e in (R / 'examples').iterdir():\n    run(e)",
    ],
)
def test_an_example_that_tests_run_lands_changed_and_is_held_back_where_it_is_gone(test: str) -> None:
    base = python("examples/sum.py", test)
    kinds = [classes(base, {"examples/sum.py": text}, PYTEST)["examples/sum.py"].kind for text in (BENT, None)]
    assert kinds == ["test", "changed test"]


@pytest.mark.parametrize(
    ("base", "path", "kind"),
    [
        (python("calc/data/expected.json", "P / 'other.json'"), "calc/data/expected.json", "product"),
        (python("calc/data/expected.json", "P / 'other/expected.json'"), "calc/data/expected.json", "product"),
        (python("calc/data/expected.json", "'data'\n'*.json'"), "calc/data/expected.json", "product"),
        (python("README.md", "'docs/README.md'"), "README.md", "text"),
        (python("calc/data/a.json", "os.listdir(tmp)\nopen('data')"), "calc/data/a.json", "product"),
        (python("calc/data/a.json", "(ROOT / 'data').glob('*.txt')"), "calc/data/a.json", "product"),
        (python("calc/data/a.json", "(ROOT / 'calc').rglob('*.py')"), "calc/data/a.json", "product"),
        (python("calc/data/a.json", "sorted((ROOT / 'calc').iterdir())"), "calc/data/a.json", "product"),
        (python("docs/guide.md", "'docs'\n'*.md'"), "docs/guide.md", "text"),
        (
            python("docs/guide.md", "for d in (ROOT / 'docs').glob('*.md'):\n    assert links(d)"),
            "docs/guide.md",
            "text",
        ),
        (python("docs/guide.md", RUNS.format("(ROOT / 'other').glob('**/*.md')")), "docs/guide.md", "text"),
        (python("GUIDE.md", RUNS.format("(ROOT / 'docs').glob('*.md')")), "GUIDE.md", "text"),
        (python("README.md", "assert (ROOT / 'README.md').exists()"), "README.md", "text"),
        (python("calc/cases/a.json", "f'other/cases/{name}.json'"), "calc/cases/a.json", "product"),
        (python("calc/cases/a.json", "f'{name}.json'"), "calc/cases/a.json", "product"),
        (python("calc/cases/a.json", "f'calc/cases/{name}.txt'"), "calc/cases/a.json", "product"),
        (python("calc/cases.json", "render('calc/cases')"), "calc/cases.json", "product"),
        ({**python("calc/specs/a.yaml", ""), "conftest.py": COLLECTS}, "calc/specs/a.yaml", "product"),
        (python("calc/more.py", "run('calc/more.py')"), "calc/more.py", "product"),
        (python("calc/cases/ok", "assert said['cases']['ok'] == 'ok'"), "calc/cases/ok", "product"),
        (python("calc/cases/ok", "open('calc/other/ok')"), "calc/cases/ok", "product"),
        ({**python("calc/wanted/a.json", ""), "tests/all.txt": "other/wanted/a.json a.json\n"}, *OWN),
        ({**python("calc/wanted/a.json", ""), "tests/all.txt": "wanted/a.json", "tests/wanted/a.json": "1"}, *OWN),
        (
            {**python("calc/wanted/a.json", ""), "tests/sdist.txt": "calc/wanted/a.json", "calc/b.py": "P / 'a.json'"},
            *OWN,
        ),
        ({**python("calc/wanted/a.json", "all_of('cases')"), "tests/aid.py": LISTS}, *OWN),
        ({**python("calc/wanted/a.json", "'wanted'"), "tests/aid.py": LISTS}, *OWN),
        (python("examples/sum.py", "run('sums.py')"), "examples/sum.py", "text"),
        (python("examples/sum.py", "'examples'\n'*.js'"), "examples/sum.py", "text"),
        (python("calc/golden.py", "run('golden.py')"), "calc/golden.py", "product"),
        (python("calc/expected/sum.py", "'calc'\nsys.executable"), "calc/expected/sum.py", "product"),
        (python("calc/page.html", "render('page.html')"), "calc/page.html", "product"),
        (python("calc/pages/a.html", "assertTemplateUsed(answer, 'pages/a.html')"), "calc/pages/a.html", "product"),
        (python("calc/pages/a.html", "client.get('/pages/a.html')"), "calc/pages/a.html", "product"),
        (python("calc/pages/a.html", "(tmp_path / 'pages' / 'a.html').read_text()"), "calc/pages/a.html", "product"),
        (python("calc/theme/index.html", "(site / 'index.html').read_text()"), "calc/theme/index.html", "product"),
        (python("calc/style.css", "import '../calc/style.css';"), "calc/style.css", "product"),
        (python("calc/lists/words", "words = 'words'"), "calc/lists/words", "product"),
        (python("calc/logo.png", "assert '/static/logo.png' in response.text"), "calc/logo.png", "product"),
        (python("LICENSE", "'LICENSE' in archive.namelist()"), "LICENSE", "text"),
        (python("calc/main.tf", "plan('calc/main.tf')"), "calc/main.tf", "product"),
        (python("calc/cases/a.json", "'cases'\n'.json'"), "calc/cases/a.json", "product"),
        (python("calc/schema.sql", "route('schema.sql')"), "calc/schema.sql", "product"),
        (
            crate("src/e.txt", 'const E: &str = include_str!("e.txt");\n#[cfg(test)]\nmod t {}\n'),
            "src/e.txt",
            "product",
        ),
        (crate("README.md", "//! calc\n"), "README.md", "text"),
    ],
)
def test_data_that_no_test_names_and_code_are_what_they_were(base: Files, path: str, kind: str) -> None:
    command = ("cargo", "test") if "Cargo.toml" in base else PYTEST
    assert classes(base, {path: BENT}, command)[path].kind == kind


def test_a_text_of_a_crate_may_say_something_else_beside_its_examples() -> None:
    base = crate("README.md", '#![doc = include_str!("../README.md")]\n')
    changed = base["README.md"].replace("# calc", "# Calc, and more")
    assert classes(base, {"README.md": changed}, ("cargo", "test"))["README.md"].kind == "text"


@pytest.mark.parametrize("text", ["#!/bin/sh\n", "x\n"])
def test_a_program_without_a_suffix_is_what_is_tested(text: str) -> None:
    base = {**python("calc/bin/a.sh", "run(ROOT / 'calc' / 'bin' / 'sums')"), "calc/bin/sums": text}
    found = classes(base, {"calc/bin/sums": f"{text}echo\n"}, PYTEST)["calc/bin/sums"]
    assert found.kind == ("product" if text.startswith("#!") else "changed test")


@pytest.mark.parametrize(
    ("test", "product", "kind"),
    [
        ("'new.json'", CODE, "product"),
        ("assert (calc / 'new.json').exists()", CODE, "product"),
        ("N = P / 'new.json'\nwant = N.read_text() if N.exists() else '5'", CODE, "test"),
        ("want = fs.existsSync('new.json') ? read('new.json') : 5", CODE, "test"),
        ("for f in sorted((P / 'data').glob('*.json')):", CODE, "test"),
        ("for f in sorted((P / 'data').glob('*.json')):", f"{CODE}DATA = HERE / 'data'\n", "product"),
        ("for f in sorted((P / 'data').glob('*.txt')):", CODE, "product"),
    ],
)
def test_new_data_that_only_tests_would_take_up_judges_nothing(test: str, product: str, kind: str) -> None:
    base = {**python("calc/data/old.json", test), "calc/__init__.py": product}
    found = classes(base, {"calc/data/new.json": BENT}, PYTEST)["calc/data/new.json"]
    assert (found.kind, found.is_judged, found.is_gated) == (kind, kind == "product", False)


def test_data_is_read_by_the_name_that_a_link_gives_it() -> None:
    base = python("src/calc/cases/a.json", "for f in sorted((HERE / 'subject').glob('*.json')):")
    links = {"tests/subject": "../src/calc/cases", "src/calc/x.py": "cases/y.py"}
    base = {**base, "src/calc/cases/y.py": CODE}
    assert classes(base, {"src/calc/cases/a.json": BENT}, PYTEST, links=links)["src/calc/cases/a.json"].kind == "test"


def test_what_a_document_says_beside_the_examples_that_tests_run_is_free() -> None:
    base = python("docs/a.md", RUNS.format("(ROOT / 'docs').glob('**/*.md')"))
    changed = {"docs/a.md": base["docs/a.md"].replace("# Sums", "# More sums"), "docs/new.md": base["docs/a.md"]}
    assert {each.kind for each in classes(base, changed, PYTEST).values()} == {"text"}


LOOP = """\
set -e
for f in src/cases/*.in; do
    sh src/calc.sh < "$f" | diff - "${f%.in}.out"
done
"""


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"check.sh": LOOP}, ("sh", "check.sh")),
        ({"ci/check.sh": LOOP.replace("src/cases", "../src/cases")}, ("sh", "ci/check.sh")),
        ({"check.sh": "find src/cases -name '*.in' | while read f; do calc $f | cmp - $f; done\n"}, ("sh", "check.sh")),
        ({"Makefile": "test:\n\tfor f in src/cases/*.in; do ./calc $$f | diff - $$f.out; done\n"}, ("make", "test")),
    ],
)
def test_cases_that_a_script_of_the_checks_goes_through_are_its_own(files: Files, command: tuple[str, ...]) -> None:
    base = {**files, "src/calc.sh": "", "src/cases/a.in": "2 3\n", "src/cases/a.out": "5\n", "src/words.out": "5\n"}
    found = classes(base, {"src/cases/a.out": "-1\n", "src/cases/b.out": "1\n", "src/words.out": ""}, command)
    assert {path: each.kind for path, each in found.items()} == {
        "src/cases/a.out": "judge by name",
        "src/cases/b.out": "product",
        "src/words.out": "product",
    }


def test_a_script_that_compares_nothing_has_no_cases() -> None:
    base = {"check.sh": LOOP.replace("diff - ", "jq . "), "src/calc.sh": "", "src/cases/a.in": "2 3\n"}
    assert classes(base, {"src/cases/a.in": "1\n"}, ("sh", "check.sh"))["src/cases/a.in"].kind == "product"
