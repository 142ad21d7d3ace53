"""A name that Rust gives to every file is not the product's to give to tests of the base."""

import pytest

from loopwright.adapters.checks.rust_prelude import prelude_given, prelude_taken

ADD = "pub fn add(a: i64, b: i64) -> i64 {\n    a - b\n}\n"
TEST = "use calc::*;\n\n#[test]\nfn adds() {\n    assert_eq!(Some(add(2, 3)), Some(5));\n    let done: R = Ok(());\n}\n"
INSIDE = (
    ADD + "\n#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn adds() {\n        Some(1);\n    }\n}\n"
)


def told(added: str, test: str = TEST, before: str = ADD) -> bool:
    given = prelude_given({"src/lib.rs": before}, {"src/lib.rs": f"{before}\n{added}"})
    return bool(prelude_taken(given, {"src/lib.rs": before, "tests/adding.rs": test}))


@pytest.mark.parametrize(
    "added",
    [
        "#[allow(non_snake_case)]\npub fn Some(n: i64) -> i64 {\n    5\n}\n",
        "pub mod deep {\n    pub fn Some(n: i64) -> i64 {\n        5\n    }\n}\n",
        "pub struct Some(pub i64);\n",
        "pub use five as Some;\n",
        "pub use crate::easy::Some;\n",
        "pub use crate::easy::{five, Ok};\n",
        "#[macro_export]\nmacro_rules! easy {\n    () => {};\n}\npub use easy as assert_eq;\n",
        "pub enum Sum {\n    Some(i64),\n}\npub use Sum::*;\n",
    ],
)
def test_what_a_glob_would_take_is_told(added: str) -> None:
    assert told(added)


def test_tests_inside_the_product_take_it_as_well() -> None:
    assert told("pub fn Some(n: i64) -> i64 {\n    5\n}\n", test="", before=INSIDE)


@pytest.mark.parametrize(
    ("added", "test"),
    [
        ("pub fn Some(n: i64) -> i64 {\n    5\n}\n", TEST.replace("calc::*", "calc::add")),
        ("pub fn Some(n: i64) -> i64 {\n    5\n}\n", TEST.replace("Some(5)", "x").replace("Some(add(2, 3))", "y")),
        ("pub fn Err() {}\n", TEST),
        ('// fn Some(n: i64)\npub const SHOWN: &str = "fn Some";\n', TEST),
        ("impl Reply {\n    pub fn Ok() -> Self {\n        Reply\n    }\n}\n", TEST),
        ("impl FromStr for Sum {\n    type Err = E;\n    fn from_str() -> R {\n        Ok(Sum)\n    }\n}\n", TEST),
        ("pub enum Sum {\n    Some(i64),\n    None,\n}\n", TEST),
        ("bitflags! {\n    pub struct Flags: u32 {\n        const Ok = 0;\n    }\n}\n", TEST),
        ("pub use std::option::Option::{None, Some};\n", TEST),
        ("pub fn some(n: i64) -> Option<i64> {\n    Some(n)\n}\n", TEST),
        ("pub fn assert_eq() {}\n", TEST),  # functions and macros do not meet
    ],
)
def test_names_of_types_and_names_no_test_means_are_free(added: str, test: str) -> None:
    assert not told(added, test)
