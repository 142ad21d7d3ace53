"""The public names of Loopwright, loaded when first used: importing the package has no effects."""

# Every step's supervisor imports this too: `typing` and `importlib` would more than double its start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopwright.api import *  # noqa: F403 - only the table of loops says what may be asked for

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """The public names are those of `loopwright.api`, which has the requests of all loops from their table."""
    if name == "__all__" or not name.startswith("_"):
        from importlib import import_module  # noqa: PLC0415 - as above

        api = import_module("loopwright.api")
        if name == "__all__":
            return api.NAMES
        if name in api.NAMES:
            return getattr(api, name)
    raise AttributeError(f"module 'loopwright' has no attribute {name!r}")


def __dir__() -> list[str]:
    from loopwright.api import NAMES  # noqa: PLC0415 - as above

    return sorted([*NAMES, "__version__"])
