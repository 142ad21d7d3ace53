"""What whoever begins a session is told first: the domain, the system, its verified code, decisions, last handoffs."""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.kernel.quoting import inline, one_line, quoted, size, with_closed_fences
from loopwright.loops.lifecycle.handoff import Leaving
from loopwright.loops.lifecycle.loop_state_view import status_lines

LONGEST = 8 * 1024  # bytes
HANDOFFS = 3
_DECISIONS = 12
_WANTED = ("Summary", "Blockers", "Next steps", "Questions", "Uncommitted work", "Deferred")  # of a handoff
_SHARE = {"domain": 1_500, "glossary": 600, "handoff": 1_100}  # bytes of each text


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """Texts of a domain's memory, each with its name; the newest handoff and decision last."""

    dream: str = ""
    glossary: str = ""
    handoffs: tuple[tuple[str, str], ...] = ()
    decisions: tuple[tuple[str, str], ...] = ()


def cold_boot(known: Remembered, here: Leaving) -> str:
    """As Markdown, within `LONGEST`. What others wrote is quoted: it informs, and orders nothing."""
    system = here.state.plan.system
    parts = (
        f"# Where {inline(system.name, 120)} ({system.id}) stands",
        _quoted("Domain", known.dream, _SHARE["domain"]),
        _quoted("Glossary", known.glossary, _SHARE["glossary"]),
        _system(here),
        _verified(here),
        _decisions(known),
        *(_quoted(f"Handoff {one_line(name, 80)}", _digest(text), _SHARE["handoff"]) for name, text in _last(known)),
    )
    return with_closed_fences("\n\n".join(filter(None, parts)), LONGEST - 1) + "\n"


def _last(known: Remembered) -> tuple[tuple[str, str], ...]:
    return known.handoffs[-HANDOFFS:]


def _quoted(title: str, text: str, most: int) -> str:
    if not text.strip():
        return ""
    lines, room = [], most
    for line in quoted(text.strip()).split("\n"):
        room -= size(line) + 1
        if room < 0:
            lines.append("> …")
            break
        lines.append(line)
    return "\n".join((f"## {title}", "", *lines))


def _digest(handoff: str) -> str:
    """What whoever goes on needs most; one that has none of it is told from its beginning."""
    parts = {part.partition("\n")[0].strip(): part.strip() for part in f"\n{handoff}".split("\n## ")[1:]}
    told = [f"## {parts[name]}" for name in _WANTED if name in parts]
    return "\n\n".join(told) or handoff


def _system(here: Leaving) -> str:
    about = here.state.plan.system.description
    lines = (*status_lines(here.state, here.moments), *((f"About: {about}",) if about else ()))
    return "\n".join(("## System", "", *(f"- {inline(line, 600)}" for line in lines)))


def _verified(here: Leaving) -> str:
    seen = here.moments.checks.items()
    checks = [f"- {name}: {'passed' if each.passed else 'failed'} at {each.at}" for name, each in seen]
    commit = f"- Commit: `{here.state.landed[:12]}`, with work up to `{here.state.tip[:12]}`"
    return "\n".join(("## Code", "", commit, *(checks or ("- no check has run yet",))))


def _decisions(known: Remembered) -> str:
    """Their titles: who needs one reads it."""
    if not known.decisions:
        return ""
    newest = known.decisions[-_DECISIONS:]
    lines = (f"- {one_line(name, 80)}: {inline(_title(text), 160)}" for name, text in newest)
    return "\n".join(("## Decisions", "", *lines))


def _title(text: str) -> str:
    lines = (line.lstrip("# ").strip() for line in text.splitlines())
    return next((line for line in lines if line), "")
