"""The public names of Loopwright, loaded when first used: importing the package has no effects."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loopwright.api import Check, Feedback, Outcome, Quality, Tickets, run

__version__ = "0.1.0"
__all__ = ["Check", "Feedback", "Outcome", "Quality", "Tickets", "run"]


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(import_module("loopwright.api"), name)
    raise AttributeError(f"module 'loopwright' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
