"""Product and tests of repositories of many shapes, detected by exclusion."""

import pytest

from loopwright.adapters.checks.classes.layout import Layout, collected_by_name, completed, detected

SHAPES = [
    ("src layout", ["pyproject.toml", "src/a/x.py", "tests/test_x.py"], ["src/**"]),
    ("flat package", ["setup.py", "a/x.py", "a/tests/test_x.py", "docs/conf.py", "examples/e.py"], ["a/**"]),
    ("one module", ["setup.py", "six.py", "test_six.py", "README"], ["*.py"]),
    ("many folders", ["package.json", "bin/a.js", "b/b.js", "index.js", "test/a.js"], ["b/**", "bin/**", "*.js"]),
    ("workspace", ["Cargo.toml", "crates/a/src/lib.rs", "crates/a/tests/x.rs", "fuzz/f.rs"], ["crates/**"]),
    ("go", ["go.mod", "a.go", "a_test.go", "doc/a.go", "doc/b.go", "doc/c.go"], ["doc/**", "*.go"]),
    ("only examples", ["demo/a.py", "README.md"], ["demo/**"]),
    ("documentation", ["docs/a.md", "docs/b.js", "src/a.js"], ["src/**"]),
    ("shell alone", ["tool.sh", "tests/a.bats"], ["*.sh"]),
    ("shell beside", ["tool.sh", "src/a.c"], ["src/**"]),
    ("scripts beside a package", ["src/a/__init__.py", "downstream/run.py", "fuzz.py"], ["src/**", "*.py"]),
    ("scripts beside code", ["lib/a.js", "scripts/b.js", "tools/c.js"], ["lib/**"]),
    ("tools with tests", ["go.mod", "cmd/a.go", "tools/b.go", "tools/b_test.go"], ["cmd/**", "tools/**"]),
    ("a package of tools", ["a/__init__.py", "tools/__init__.py", "loose/b.py"], ["a/**", "loose/**", "tools/**"]),
    ("only scripts", ["scripts/b.js"], ["scripts/**"]),
    ("nothing", ["README.md"], []),
]  # fmt: skip


@pytest.mark.parametrize(("files", "product"), [shape[1:] for shape in SHAPES], ids=[shape[0] for shape in SHAPES])
def test_every_folder_with_sources_is_product_unless_it_is_something_else(files: list[str], product: list[str]) -> None:
    assert list(detected(files).product) == product


@pytest.mark.parametrize(
    ("files", "tests", "others"),
    [
        (["a/x.py", "tests/x.py"], ["tests/data/x.json", "a/test_y.py", "a/y_test.py"], ["a/x.py"]),
        (["a/x.py", "a/tests/test_x.py"], ["a/tests/x.py", "b/tests/x.py"], ["a/testing.py"]),
        (["src/a.py", "typing_tests/b.py"], ["typing_tests/b.py"], ["src/my_tests/c.py"]),
        (["django/test/client.py", "tests/x.py"], ["tests/x.py"], ["django/test/client.py"]),
        (["lib/a.js", "lib/__tests__/a.js"], ["lib/a.test.ts", "lib/__snapshots__/x.snap"], ["lib/a.js"]),
        (
            ["calc.py", "features/a.feature", "bdd/b.feature"],
            ["features/steps/a.py", "features/environment.py", "bdd/steps/x.py", "x/new.feature"],
            ["features/calc.py", "steps/a.py", "support/a.py"],
        ),
        (["src/features/cart.py", "a.js"], [], ["src/features/steps/a.py", "src/features/support/a.js"]),
        (["calc.py", "qa/a.robot"], ["qa/a.robot", "qa/words.py", "qa/more.resource"], ["words.py", "robot/arm.py"]),
        (["src/a.c", "testsuite/b.c", "t/c.c"], ["testsuite/b.c", "t/c.c"], ["src/check/d.c"]),
        (["a.go"], ["a_test.go", "x/testdata/y"], ["a.go"]),
        (["a/src/x.rs", "a/tests/y.rs"], ["b/tests/z.rs", "a/src/tests.rs"], ["a/src/x.rs"]),
    ],
)  # fmt: skip
def test_tests_are_known_by_folder_and_by_what_runners_collect(
    files: list[str], tests: list[str], others: list[str]
) -> None:
    layout = detected(files)
    assert all(layout.is_test(path) for path in tests)
    assert not any(layout.is_test(path) for path in others)


def test_a_folder_of_tests_beside_src_is_theirs_with_all_that_is_in_it() -> None:
    files = ["src/a/__init__.py", "testing/test_a.py", "testing/benchmark.py", "downstream/run.py"]
    found = detected([*files, "scripts/test.sh", "scripts/release.py", "docs/test_docs.py", "docs/conf.py"])
    assert found.is_test("testing/benchmark.py")
    assert [path for path in ("downstream/run.py", "scripts/release.py", "docs/conf.py") if found.is_test(path)] == []
    assert found.product == ("src/**",)


def test_a_runner_collects_by_name_wherever_a_file_lies() -> None:
    assert collected_by_name("src/test_x.py")
    assert not collected_by_name("src/x.py")
    assert not collected_by_name("src/test_x.go")


def test_what_a_person_wrote_stands() -> None:
    given = Layout(product=("lib/**",), tests=("checks/**",), protected=("tests/**",))
    assert completed(given, ["lib/a.py", "tests/test_a.py"]) == given


@pytest.mark.parametrize(
    ("pattern", "is_of_tests"),
    [
        ("tests/**", True),
        ("**/test_*.py", True),
        ("test/", True),
        ("**", False),
        ("src/**", False),
        ("loop.toml", False),
        (".github/**", False),
        ("ci/**", False),
    ],
)
def test_patterns_of_tests_among_what_is_protected_are_read_as_tests(pattern: str, *, is_of_tests: bool) -> None:
    found = completed(Layout(protected=(pattern,)), ["src/a.py", "tests/test_a.py", "loop.toml"])
    assert (pattern in found.tests) is is_of_tests
    assert (pattern in found.protected) is not is_of_tests
    assert found.product == ("src/**",)
