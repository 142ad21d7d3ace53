"""Data that tests embed, include or take in raw is theirs; what only has a name like it is not."""

import pytest

from tests.adapters.checks.classes.held import Files, classes

GO = 'package calc\n\nimport _ "embed"\n\n//go:embed %s\nvar sums string\n'


def go(said: str) -> Files:
    return {
        "go.mod": "module calc\n",
        "calc/a.go": "package calc\n",
        "calc/cases/s.vec": "5\n",
        "calc/a_test.go": GO % said,
    }


def js(test: str) -> Files:
    return {
        "package.json": "{}",
        "lib/a.js": "x\n",
        "lib/out/s.html": "5\n",
        "lib/out/s.txt": "5\n",
        "test/a.test.js": test,
    }


TAKEN = 'include!("../src/s.rs");\n'
WHOLE = 'include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/s.rs"));\n'
SAME = "pub fn same(a: i64, b: i64) {\n    assert!(a == b);\n}\n"


def rust(text: str, taken: str = TAKEN, library: str = "", manifest: str = "") -> Files:
    test = f"#[test]\nfn adds() {{\n    let a = {taken}}}\n"
    return {
        "Cargo.toml": f"[package]\nname = 'a'\n{manifest}",
        "src/lib.rs": f"pub fn a() {{}}\n{library}",
        "src/s.rs": text,
        "tests/a.rs": test,
    }


@pytest.mark.parametrize(
    ("base", "path"),
    [
        (go("cases/s.vec"), "calc/cases/s.vec"),
        (go("other.vec cases/*.vec"), "calc/cases/s.vec"),
        (go("all:cases"), "calc/cases/s.vec"),
        (js("import want from '../lib/out/s.txt?raw';\n"), "lib/out/s.txt"),
        (js("import want from '../lib/out/s.html?raw';\n"), "lib/out/s.html"),
        (js("await expect(x).toMatchFileSnapshot('../lib/out/s.html');\n"), "lib/out/s.html"),
        (rust("(2, 3, 5)\n"), "src/s.rs"),
        (rust("(2, 3, 5)\n", WHOLE), "src/s.rs"),
        (rust(SAME), "src/s.rs"),
        (rust(SAME, WHOLE), "src/s.rs"),
        (rust(SAME, '1;\n}\n#[path = "../src/s.rs"]\nmod aid;\nfn b() {\n'), "src/s.rs"),
    ],
)
def test_what_tests_name_is_theirs(base: Files, path: str) -> None:
    assert classes(base, {path: "-1\n"})[path].kind == "test"


@pytest.mark.parametrize(
    ("base", "path"),
    [
        (go("cases/more.vec"), "calc/cases/s.vec"),
        (js("import { a } from '../lib/a';\n"), "lib/out/s.html"),
        (js("await expect(x).toMatchFileSnapshot('out/s.html');\n"), "lib/out/s.html"),  # another one
        (rust("pub fn add() {}\n"), "src/s.rs"),  # what is tested
        (rust(SAME, library="mod s;\n"), "src/s.rs"),
        (rust(SAME, WHOLE, library='#[path = "s.rs"]\npub mod other;\n'), "src/s.rs"),
        (rust(SAME, manifest='[[bin]]\nname = "s"\npath = "src/s.rs"\n'), "src/s.rs"),
        (rust(SAME, "1;\n"), "src/s.rs"),
    ],
)
def test_what_no_test_names_is_product(base: Files, path: str) -> None:
    assert classes(base, {path: "-1\n"})[path].kind == "product"
