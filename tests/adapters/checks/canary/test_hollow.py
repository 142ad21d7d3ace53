"""Functions that a change touched, and texts in which they raise."""

from textwrap import dedent

import pytest

from loopwright.adapters.checks.canary.hollow import (
    digest,
    hollowed,
    names_at,
    names_in,
    only_removes,
    same_code,
    touched,
)

BASE = '''
import abc
from typing import Protocol, overload

LIMIT = 3


def plain(a, b=1):
    """Says what."""
    return a + b


async def later(a):
    return await a


def each(items):
    for item in items:
        yield item


def cached(function):
    store = {}

    def inner(key):
        return store.setdefault(key, function(key))

    return inner


class Table:
    size = 0

    @property
    def name(self):
        return self._name

    @name.setter
    def name(self, value):
        self._name = value

    class Row:
        def cells(self): return []

    def todo(self):
        raise NotImplementedError("later")

    @abc.abstractmethod
    def must(self):
        return super().must()

    @overload
    def get(self, a: int) -> int: ...


class Shape(Protocol):
    def area(self) -> int:
        return 1
'''


def after(*replaced: tuple[str, str]) -> bytes:
    text = BASE
    for old, new in replaced:
        assert old in text
        text = text.replace(old, new)
    return text.encode()


@pytest.mark.parametrize(
    ("replaced", "found"),
    [
        (("return a + b", "return a - b"), ("plain",)),
        (("def plain(a, b=1)", "def plain(a, b=2)"), ("plain",)),
        (("await a", "await (a)  # clearer"), ()),
        (("def later(a)", "def later(b)"), ("later",)),
        (("yield item", "yield item, 1"), ("each",)),
        (("        yield item", "        if item:\n            yield item"), ("each",)),
        (("store.setdefault(key, function(key))", "function(key)"), ("cached.inner",)),
        (("store = {}", "store = {1: 1}"), ("cached",)),
        (("return self._name", "return self._name.upper()"), ("Table.name",)),
        (("    @property\n", "    @functools.cached_property\n"), ("Table.name",)),
        (("def cells(self): return []", "def cells(self): return [1]"), ("Table.Row.cells",)),
        (("class Table:", "def stub():\n    pass\n\n\nclass Table:"), ("stub",)),
        (('NotImplementedError("later")', "NotImplementedError"), ("Table.todo",)),
        (("    size = 0\n", "    size = 0\n    def len(self):\n        return self.size\n"), ("Table.len",)),
        (("    def area(self) -> int:\n        return 1", "    def area(self):\n        return 2"), ("Shape.area",)),
    ],
)
def test_a_touched_function_is_named_with_those_around_it(replaced: tuple[str, str], found: tuple[str, ...]) -> None:
    assert touched(BASE.encode(), after(replaced)) == found


@pytest.mark.parametrize(
    "replaced",
    [
        ('"""Says what."""', '"""Says more."""'),
        ("def plain(a, b=1)", "def plain(a: int, b: int = 1) -> int"),
        ("LIMIT = 3", "LIMIT = 4"),
        ("return a + b", "# a reason\n    return a + b"),
        ("return super().must()", "return 1"),
        ("def get(self, a: int) -> int: ...", "def get(self, a: str) -> str: ..."),
        ("class Shape(Protocol):", "class Shape(Protocol):\n    def sides(self) -> int: ...\n"),
        ("LIMIT = 3", "LIMIT = 3\nif TYPE_CHECKING:\n    def typed():\n        return 1\n"),
    ],
)
def test_what_only_people_and_type_checkers_read_touches_no_function(replaced: tuple[str, str]) -> None:
    assert touched(BASE.encode(), after(replaced)) == ()


def test_a_function_that_lost_lines_or_moved_between_functions() -> None:
    shorter = after(("    store = {}\n\n", ""))
    assert touched(BASE.encode(), shorter) == ("cached",)
    moved = BASE.replace("def each(items):\n    for item in items:\n        yield item\n", "") + dedent("""
        def each(items):
            for item in items:
                yield item
        """)
    assert touched(BASE.encode(), moved.encode()) == ()


def test_a_new_function_is_named_without_those_inside_it() -> None:
    assert touched(b"", b"def a():\n    def b():\n        return 1\n    return b\n") == ("a",)


def raised(text: bytes | None, call: str) -> str:
    assert text is not None
    space: dict[str, object] = {}
    exec(compile(text, "made", "exec"), space)  # noqa: S102 - what was made is there to be run
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - that it is no `Exception` is the point
        eval(call, space)  # noqa: S307 - as above
    assert type(caught.value) is BaseException
    return str(caught.value)


@pytest.mark.parametrize(
    ("call", "holds"),
    [
        ("f(1, [2]) == f(1, [2])", True),
        ("C(1).m('a') == C(2).m('a')", True),
        ("f('a', object=1) == f('a', object=2)", False),
        ("f('a') == f('A')", False),
        ("f(b'a') == f(b'A')", False),
        ("f(1) == C(1).m(1)", False),
        ("hash(f(1)) == hash(f(1))", True),
    ],
)
def test_a_wrong_object_depends_on_the_plain_arguments(call: str, holds: bool) -> None:  # noqa: FBT001
    text = b"""
def f(*a, object=None):
    return a

class C:
    def __init__(self, a):
        self.a = a
    def m(self, b):
        return b
"""
    made = hollowed(text, frozenset({"f", "C.m"}), "a.py", "object")
    assert made is not None
    space: dict[str, object] = {}
    exec(compile(made, "made", "exec"), space)  # noqa: S102 - what was made is there to be run
    assert eval(call, space) is holds  # noqa: S307 - as above


@pytest.mark.parametrize(
    ("text", "names", "call"),
    [
        ("def f():\n    return 1\n", {"f"}, "f()"),
        ("def f(): return 1\n", {"f"}, "f()"),
        ("def f(): ...\n", {"f"}, "f()"),
        ("def f():\n    'says'\n", {"f"}, "f()"),
        ("def f():\n    raise NotImplementedError\n", {"f"}, "f()"),
        ("def f(): x = 1; return x  # so\n", {"f"}, "f()"),
        ("def f():\n    'says'; x = 1\n    return x\nassert f.__doc__ == 'says'\n", {"f"}, "f()"),
        ("def f(\n    a=(1,\n       2),\n):\n\n    # why\n    return (\n        a\n    )\n", {"f"}, "f()"),
        ("def f():\n\t@staticmethod\n\tdef g():\n\t\treturn 1\n\treturn g\n", {"f"}, "f()"),
        ("def f():\r\n    a = 'é'; return a\r\nX = 1\r\n", {"f"}, "f()"),
        ("\ufeffdef f():\n    return 1\n", {"f"}, "f()"),
        ("def f():\n    yield 1\nf()\n", {"f"}, "next(f())"),
        ("class C:\n    @property\n    def p(self):\n        return 1\n", {"C.p"}, "C().p"),
        ("def f():\n    def g():\n        return 1\n    return g()\n", {"f.g"}, "f()"),
        ("def f():\n    return 1\n\n\ndef g():\n    return f()\n", {"f", "g"}, "g()"),
        ("if 1:\n    def f():\n        return '''\nx\n'''\nelse:\n    def f(): return 2\n", {"f"}, "f()"),
        ("def f():\n    return 1 + \\\n        2\n", {"f"}, "f()"),
    ],
)
def test_a_hollow_function_raises_what_no_except_exception_hides(text: str, names: set[str], call: str) -> None:
    assert raised(hollowed(text.encode(), frozenset(names), "a.py"), call).startswith("broken on purpose: a.py: ")


def test_all_but_the_hollow_function_stays_as_it_was() -> None:
    made = hollowed(BASE.encode(), frozenset({"later", "Table.name"}), "a.py")
    assert made is not None
    assert set(names_in(made)) == set(names_in(BASE.encode()))
    assert touched(BASE.encode(), made) == ("later", "Table.name")
    assert made.count(b"raise BaseException('broken on purpose: a.py: Table.name')") == 2  # the getter and the setter


def test_a_text_keeps_its_encoding() -> None:
    text = "# -*- coding: latin-1 -*-\nNAME = 'é'\ndef f(): a = 'é'; return a\n".encode("latin-1")
    made = hollowed(text, frozenset({"f"}), "a.py")
    assert made is not None
    assert "NAME = 'é'".encode("latin-1") in made
    assert raised(made, "f()") == "broken on purpose: a.py: f"


@pytest.mark.parametrize(
    "text", [b"def f(:\n", b"def f():\n    return 1\0\n", b"# coding: nonsense\n", b"x = 1\n", b"(" * 500]
)
def test_what_cannot_be_parsed_has_nothing_to_hollow(text: bytes) -> None:
    assert hollowed(text, frozenset({"f"}), "a.py") is None
    assert touched(b"", text) == ()
    assert not same_code(text, text + b"1\n")


def test_the_same_code_is_told_from_other_words_about_it() -> None:
    assert same_code(
        BASE.encode(), after(('"""Says what."""', '"""Says more."""'), ("LIMIT = 3", "LIMIT = 3  # enough"))
    )
    assert not same_code(BASE.encode(), after(("LIMIT = 3", "LIMIT = 4")))
    assert not same_code(b"class A:\n    x: int\n", b"class A:\n    x: str\n")


def test_escapes_the_compiler_dislikes_are_no_warning_of_ours() -> None:
    assert hollowed(b"P = '\\d'\ndef f(): return '\\w'\n", frozenset({"f"}), "a.py") is not None


def test_a_function_that_is_still_to_do_is_named_by_its_line() -> None:
    assert names_at(b"def add(a, b):\n    raise NotImplementedError\n", frozenset({1})) == {"add"}


def test_the_digest_of_a_function_changes_with_its_code_alone() -> None:
    def of(text: str, name: str = "a.py: one") -> str:
        return digest({"a.py": text.encode()}, name)

    plain = of("def one():\n    return 1\n")
    assert of('X = 2\n\n\ndef one():\n    """Say it."""\n    return 1  # one\n') == plain
    assert of("def one():\n    return 2\n") != plain
    assert of("x = 1\n", "a.py") != of("x = 2\n", "a.py")


OLD = dedent(
    '''
    """Tables."""
    from os import path, sep

    __all__ = ["Table", "find"]
    SIZE = 3
    class Table:
        """A table."""
        rows = 1
        def search(self): return self.rows
    def find(): return path
    '''
)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("def find(): return path", "", True),
        ("from os import path, sep", "from os import path", True),
        ('["Table", "find"]', '["Table"]', True),
        ("    def search(self): return self.rows\n", "", True),
        ("    rows = 1\n    def search(self): return self.rows\n", "    pass\n", True),
        ("SIZE = 3\n", "", True),
        ('"""A table."""', '"""Rows."""', True),
        ("return path", "return sep", False),
        ("def find(): return path", "from shutil import which as find", False),
        ("class Table:", "class Table(dict):", False),
        ("return self.rows", "return 2", False),
        ("SIZE = 3", "SIZE = 4", False),
        ("def find(): return path", "def find(): return path\ndef more(): return 1", False),
        ("SIZE = 3", "SIZE = (", False),
    ],
)
def test_removing_is_told_from_any_other_change(old: str, new: str, *, expected: bool) -> None:
    assert old in OLD
    assert only_removes(OLD.encode(), OLD.replace(old, new).encode()) == expected
