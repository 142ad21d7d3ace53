"""The public names of Loopwright, loaded when first used: importing the package has no effects."""

# Every step's supervisor imports this too: `typing` and `importlib` would more than double its start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopwright.api import Check, Feedback, Outcome, Quality, Tickets, run

__version__ = "0.1.0"
__all__ = ["Check", "Feedback", "Outcome", "Quality", "Tickets", "run"]


def __getattr__(name: str) -> object:
    if name in __all__:
        from importlib import import_module  # noqa: PLC0415 - as above

        return getattr(import_module("loopwright.api"), name)
    raise AttributeError(f"module 'loopwright' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
