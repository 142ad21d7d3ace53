"""Which lines a diff touches."""

from __future__ import annotations

import pytest

from loopwright.kernel.touched import Touched, is_touched, touched_lines

DIFF = """\
diff --git a/src/a.py b/src/a.py
index 1..2 100644
--- a/src/a.py
+++ b/src/a.py
@@ -1,3 +1,4 @@ def f():
 one
+++ b/not/a/file.py
 two
 three
@@ -20 +21 @@
-old
+new
@@ -30,2 +31,0 @@
-gone
-too
diff --git a/b c.py b/b c.py
new file mode 100644
--- /dev/null
+++ b/b c.py\t
@@ -0,0 +1,2 @@
+x
+y
\\ No newline at end of file
diff --git a/pic.png b/pic.png
Binary files a/pic.png and b/pic.png differ
"""


def test_the_lines_of_each_file_are_read_from_its_hunks() -> None:
    paths = ("src/a.py", "b c.py", "pic.png")
    assert touched_lines(paths, DIFF, whole=True) == (
        Touched(path="src/a.py", first=1, last=4),
        Touched(path="src/a.py", first=21, last=21),
        Touched(path="src/a.py", first=31, last=31),
        Touched(path="b c.py", first=1, last=2),
        Touched(path="pic.png"),
    )


def test_what_was_cut_or_was_not_asked_for_says_nothing() -> None:
    assert touched_lines(("src/a.py",), DIFF[:120], whole=False) == (Touched(path="src/a.py"),)
    assert touched_lines((), DIFF, whole=True) == ()


@pytest.mark.parametrize(
    ("path", "line", "said"),
    [("a", 3, True), ("./a", 5, True), ("a", 6, False), ("a", 0, True), ("b", 99, True), ("c", 3, False)],
)
def test_a_place_is_touched_where_the_change_is_or_nobody_can_tell(path: str, line: int, said: bool) -> None:  # noqa: FBT001 - a row
    assert is_touched((Touched(path="a", first=3, last=5), Touched(path="b")), path, line) is said
