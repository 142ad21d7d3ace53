"""Limits as functions of numbers. Every loop has a profile of its own; none shares a global one.

Granting raises a limit, it never lowers a count: counts live in the log and only go up.
"""

from __future__ import annotations


def reached(count: int, limit: int) -> bool:
    return count >= limit


def granted(count: int, limit: int, more: int) -> int:
    """The limit after a person granted `more`, if the count had reached it; else unchanged."""
    return count + more if reached(count, limit) else limit


def granted_iterations(done: int, limit: int, more: int) -> int:
    """The iteration limit after a grant: never nearer than `more` from here."""
    return max(limit, done + more)
