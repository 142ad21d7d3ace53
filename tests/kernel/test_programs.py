"""Which files a command starts, by its words."""

import pytest

from loopwright.kernel.programs import program_files

_PACKAGE = ["scripts/look.py", "scripts/look/__main__.py", "scripts/__init__.py", "scripts/look/__init__.py"]
_MODULE = ["python3", *_PACKAGE, *(f"src/{each}" for each in _PACKAGE), "scripts.look"]


@pytest.mark.parametrize(
    ("argv", "files"),
    [
        ((), []),
        (("env", "A=1"), []),
        (("./check", "src/a.py"), ["check"]),
        (("env", "A=1", "tools/check"), ["tools/check"]),
        (("python", "-B", "tools/look.py", "a.py"), ["python", "tools/look.py"]),
        (("python3", "-m", "scripts.look"), _MODULE),
        (("sh", "-c", "tools/look.sh; true"), ["sh", "tools/look.sh; true", "-c", "tools/look.sh", "true"]),
        (("grep", "-q", "x", "src/a.py"), ["grep"]),
        (("python", "-m"), ["python"]),
    ],
    ids=str,
)
def test_what_it_starts(argv: tuple[str, ...], files: list[str]) -> None:
    assert list(program_files(argv)) == files
