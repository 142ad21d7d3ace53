"""Tests inside files of the product: the base's are put back, the code stays the candidate's."""

import pytest

from loopwright.adapters.checks.classes.in_source import PLAIN, put_back
from tests.adapters.checks.classes.held import classes

CODE = "pub fn add(a: i32) -> i32 { a }\n"
TESTS = '#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        assert_eq!(add(1), 1); // "}"\n    }\n}\n'
MORE = TESTS.replace("    #[test]", "    #[test]\n    fn more() {\n    }\n\n    #[test]", 1)
BENT = TESTS.replace("assert_eq!(add(1), 1)", "assert!(true)")
NEW_CODE = "pub fn add(a: i32) -> i32 { a + 1 } // new\n"


def inside(before: str, after: str) -> tuple[bytes | None, bool]:
    found = classes({"Cargo.toml": "", "src/a.rs": before}, {"src/a.rs": after}, ("cargo", "test"))["src/a.rs"]
    assert found.kind == "product"
    return found.judged, found.waits


def test_code_alone_stays_as_it_is() -> None:
    assert inside(CODE + TESTS, NEW_CODE + TESTS) == (None, False)
    assert inside(CODE, NEW_CODE) == (None, False)


def test_new_tests_land_and_do_not_judge() -> None:
    back = (NEW_CODE + TESTS).encode()
    assert inside(CODE + TESTS, NEW_CODE + MORE) == (back, False)
    assert inside(CODE, NEW_CODE + TESTS) == (NEW_CODE.encode(), False)


def test_a_changed_test_is_the_bases_where_the_product_is_judged() -> None:
    back = (NEW_CODE + TESTS).encode()
    assert inside(CODE + TESTS, NEW_CODE + BENT) == (back, False)


def test_a_module_of_tests_that_is_gone_comes_back() -> None:
    assert inside(CODE + TESTS, NEW_CODE) == ((NEW_CODE + "\n" + TESTS).encode(), False)


def test_a_declaration_of_tests_elsewhere_is_a_block_too() -> None:
    assert inside(CODE, f"{NEW_CODE}#[cfg(test)]\nmod tests;\n") == (NEW_CODE.encode(), False)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (CODE + TESTS, NEW_CODE + TESTS + "}"),
        ("impl X {\n    #[cfg(test)]\n    fn x() {}\n}\n", "impl X {\n    #[cfg(test)]\n    fn y() {}\n}\n"),
        (CODE + TESTS + TESTS, NEW_CODE + TESTS),
        (CODE, "pub fn add(a: i32) -> i32 { #[cfg(test)] return a; a + 1 }\n"),
        (CODE, "pub fn add(a: i32) -> i32 {\n    cfg_if! { if #[cfg(test)] { a } else { a + 1 } }\n}\n"),
        (CODE, "pub fn add(a: i32) -> i32 {\n    #[cfg(any(miri, test))]\n    return a;\n    a + 1\n}\n"),
        (CODE, "pub fn add(a: i32) -> i32 {\n    #[cfg(all(not(miri), test))]\n    return a;\n    a + 1\n}\n"),
    ],
)
def test_what_cannot_be_cut_out_waits(before: str, after: str) -> None:
    assert inside(before, after) == (None, True)


def test_what_only_tests_have_anywhere_in_a_line_is_theirs() -> None:
    several = "mod a; #[cfg(test)] use right::add;\n"
    assert inside("mod a;\n", several) == (b"mod a; ", False)
    shared = '#[cfg(any(test, feature = "help"))]\npub fn help() {}\n'
    assert inside(CODE, NEW_CODE + shared) == (None, False)
    odd = "fn f() {\n    cfg_if! { if #[cfg(test)] { a() } else { b() } }\n}\n"
    assert inside(CODE + odd, NEW_CODE + odd) == (None, False)


def test_a_removed_file_takes_its_tests_along_and_waits() -> None:
    base = {"Cargo.toml": "", "src/a.rs": CODE + TESTS, "src/b.rs": CODE}
    found = classes(base, {"src/a.rs": None, "src/b.rs": None}, ("cargo", "test"))
    assert [each.waits for each in found.values()] == [True, False]


def test_strings_comments_and_lifetimes_do_not_hide_where_a_block_ends() -> None:
    odd = "/* { /* nested */ } */\nfn f<'a>(x: &'a str) -> char { let _ = r#\"{\"#; '{' }\n"
    assert inside(odd + TESTS, odd + NEW_CODE + BENT)[0] == (odd + NEW_CODE + TESTS).encode()


def test_examples_of_a_library_are_tests() -> None:
    documented = f"/// ```\n/// assert_eq!(add(1), 1);\n/// ```\n{CODE}"
    base = {"Cargo.toml": "", "src/lib.rs": documented}
    assert classes(base, {"src/lib.rs": documented.replace("1), 1", "1), 2")}, ("cargo", "test"))["src/lib.rs"].waits
    assert not classes(base, {"src/lib.rs": documented + CODE}, ("cargo", "test"))["src/lib.rs"].waits


VITEST = "export const a = 1\nif (import.meta.vitest) {\n  it('x', () => {})\n}\n"


def test_tests_in_a_module_of_javascript_are_cut_out() -> None:
    after = VITEST.replace("a = 1", "a = 2").replace("it('x'", "it.skip('x'")
    found = put_back("src/a.ts", VITEST, after, doctests=False)
    assert found.judged == VITEST.replace("a = 1", "a = 2")
    assert put_back("src/a.ts", VITEST, VITEST.replace("a = 1", "a = 2"), doctests=False) == PLAIN
    assert put_back("src/a.ts", VITEST, f"const v = import.meta.vitest\n{VITEST}", doctests=False).waits


DOC = 'def add(a):\n    """Adds.\n\n    >>> add(1)\n    1\n    """\n    return a\n'


@pytest.mark.parametrize(
    ("after", "judged", "waits"),
    [
        (DOC.replace("return a", "return a + 0"), False, False),
        (DOC.replace("Adds.", "Adds, für immer."), False, False),
        (DOC.replace("    1\n", "    2\n"), True, False),
        (DOC.replace("    1\n", "    1\n    >>> add(2)\n    2\n"), True, False),
        ("def other(): pass\n", False, True),
        ("def add(:\n", False, True),
    ],
)
def test_examples_in_docstrings_are_put_back(after: str, *, judged: bool, waits: bool) -> None:
    found = put_back("src/a.py", DOC, after, doctests=True)
    assert (found.judged is not None, found.waits) == (judged, waits)
    if found.judged is not None:
        assert found.judged == DOC
    assert put_back("src/a.py", DOC, after, doctests=False) == PLAIN


@pytest.mark.parametrize(
    ("wrapped", "waits"),
    [
        ("import app\n@app.eased\n", True),
        ("@eased(1)\n", True),
        ("from functools import partial\n@partial\n", True),
        ("import functools\n@functools.lru_cache(maxsize=1)\n", False),
        ("from functools import cache as kept\n@kept\n", False),
        ("@staticmethod\n", False),
        ("from pydantic import validate_call\n@validate_call(config={})\n", False),
        ("from src.ease import eased\n@eased\n", True),
    ],
)
def test_what_has_examples_is_not_wrapped_by_what_may_lose_them(wrapped: str, *, waits: bool) -> None:
    shown, plain = 'def a():\n    """\n    >>> a()\n    1\n    """\n    return 1\n', "def b():\n    return 1\n"
    installed = frozenset({"pydantic", "src"})
    assert put_back("src/a.py", shown, wrapped + shown, doctests=True, installed=installed).waits is waits
    assert put_back("src/a.py", wrapped + shown, wrapped + shown + plain, doctests=True) == PLAIN
    assert put_back("src/a.py", shown + plain, shown + wrapped + plain, doctests=True) == PLAIN


@pytest.mark.parametrize(
    "documented",
    [
        '#[doc = "```\\nassert_eq!(add(1), 1);\\n```"]\n',
        '#[doc = "```"]\n#[doc = "assert_eq!(add(1), 1);"]\n#[doc = "```"]\n',
        '#![doc = r#"\n```\nassert_eq!(add(1), 1);\n```\n"#]\n',
        "/**\nAdds.\n\n```\nassert_eq!(add(1), 1);\n```\n*/\n",
        "/*!\n * ```\n * assert_eq!(add(1), 1);\n * ```\n */\n",
    ],
)
def test_examples_in_other_documentation_of_rust_are_kept_too(documented: str) -> None:
    bent = documented.replace("1), 1", "1), 2")
    assert put_back("a.rs", documented + CODE, bent + CODE, doctests=True).waits
    assert put_back("a.rs", documented + CODE, documented + NEW_CODE, doctests=True) == PLAIN
    assert put_back("a.rs", CODE, documented + CODE, doctests=True) == PLAIN


def test_other_words_in_attributes_of_rust_may_be_changed() -> None:
    before, after = (f'#[doc = "{word}"]\n{CODE}' for word in ("Adds.", "Sums."))
    assert put_back("a.rs", before, after, doctests=True) == PLAIN


def test_whether_docstrings_are_tests_is_read_from_commands_and_configuration() -> None:
    base = {"pyproject.toml": "", "src/a.py": DOC}
    bent = {"src/a.py": DOC.replace("    1\n", "    2\n")}
    assert classes(base, bent, ("pytest",))["src/a.py"].judged is None
    assert classes(base, bent, ("pytest", "--doctest-modules"))["src/a.py"].judged == DOC.encode()
    configured = {**base, "pytest.ini": "[pytest]\naddopts = --doctest-modules\n"}
    assert classes(configured, bent, ("pytest",))["src/a.py"].judged == DOC.encode()


CASE = """\
macro_rules! case {
    ($n:ident, $a:expr, $e:expr) => {
        #[test]
        fn $n() {
            assert_eq!($a, $e);
        }
    };
}

"""
CALLED = "case!(adds, add(1), 1);\n"
SAME = "macro_rules! same {\n    ($a:expr, $b:expr) => { assert!($a == $b) };\n}\n"


def test_a_test_that_a_macro_makes_is_the_bases_where_the_product_is_judged() -> None:
    back = (NEW_CODE + CASE + CALLED).encode()
    assert inside(CODE + CASE + CALLED, NEW_CODE + CASE + "case!(adds, add(1), 2);\n") == (back, False)
    more = "case!(more, add(2), 2);\n"
    assert inside(CODE + CASE + CALLED, NEW_CODE + CASE + CALLED + more) == (back, False)


@pytest.mark.parametrize("macro", [CASE, SAME])
def test_a_macro_that_tests_judge_with_waits_when_it_changes(macro: str) -> None:
    bent = macro.replace("assert_eq!($a, $e);", "let _ = ($a, $e);").replace("assert!($a == $b)", "let _ = ($a, $b)")
    assert inside(CODE + macro, NEW_CODE + bent) == (None, True)
    assert inside(CODE + macro, NEW_CODE) == (None, True)


def test_macros_of_the_product_and_new_ones_are_code() -> None:
    macro = "macro_rules! twice {\n    ($a:expr) => { $a + $a };\n}\n"
    assert (
        inside(CODE + macro + SAME, NEW_CODE + macro.replace("+", "*") + SAME + TESTS.replace("add(1)", "twice!(1)"))[1]
        is False
    )
    assert inside(CODE + macro, NEW_CODE + SAME + macro) == (None, False)


def test_a_macro_inside_of_tests_is_put_back_with_them() -> None:
    held = TESTS.replace("    #[test]", SAME + "    #[test]")
    bent = held.replace("assert!($a == $b)", "let _ = ($a, $b)")
    back = (NEW_CODE + held).encode()
    assert inside(CODE + held, NEW_CODE + bent) == (back, False)


METHOD = 'class A:\n    def add(self):\n        """\n        >>> 1\n        1\n        """\n'


@pytest.mark.parametrize(
    ("before", "more"),
    [
        (DOC, "add.__doc__ = '>>> 1'\n"),
        (DOC, "setattr(add, '__doc__', '')\n"),
        (DOC, "__test__ = {}\n"),
        (DOC, "if a:\n    def add(a):\n        pass\n"),
        (DOC, "try:\n    pass\nexcept ValueError:\n    add = 1\n"),
        (DOC, "from b import add\n"),
        (DOC, "import b as add\n"),
        (DOC, "globals()['add'] = 1\n"),
        (DOC, "def ease():\n    global add\n"),
        (DOC, "@easy.overload\ndef add(a):\n    '>>> 1'\n"),
        (METHOD, "A.add = 1\n"),
        (METHOD, "setattr(A, 'add', 1)\n"),
        (METHOD, "    add = 1\n"),
        ("", "A.__doc__ = '>>> 1'\n"),
    ],
)
def test_what_keeps_examples_of_the_base_from_being_those_that_run_waits(before: str, more: str) -> None:
    assert put_back("src/a.py", before, before + more, doctests=True).waits
    assert not put_back("src/a.py", before, before + more, doctests=False).waits


@pytest.mark.parametrize(
    "more",
    [
        "def other(add):\n    add = 1\n    return add.__doc__\n",
        "class B:\n    def add(self):\n        pass\n",
        "@overload\ndef add(a: int) -> int: ...\n",
        "A = [add(1), 'add']\n",
        "def new():\n    pass\n",
    ],
)
def test_honest_code_beside_examples_stays_as_it_is(more: str) -> None:
    assert put_back("src/a.py", DOC, DOC + more, doctests=True) == PLAIN


def test_examples_under_conditions_and_in_strings_are_tests_too() -> None:
    under = "if a:\n" + "".join(f"    {line}\n" for line in DOC.splitlines())
    assert put_back("src/a.py", under, under.replace("    1\n", "    2\n"), doctests=True).judged == under
    beside = "__test__ = {'a': '>>> 1\\n1'}\n"
    assert put_back("src/a.py", beside, beside.replace("n1", "n2"), doctests=True).waits
    assert put_back("src/a.py", beside, beside + "A = 1\n", doctests=True) == PLAIN
    assert put_back("src/a.py", DOC, "def (\n", doctests=True).waits
    assert put_back("src/a.py", "A = 1\n", "def (\n", doctests=True) == PLAIN
