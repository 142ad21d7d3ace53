"""What Claude Code asks us: whether a turn may end (`stop`), and what a session should know (`session-start`).

Every turn of an agent pays for one start of this program, so it needs the standard library only, little of that, and
nothing else of ours. Whoever asks is a person's own session: the answer is always JSON, the exit code always 0, and
any doubt lets the person go. A lease (`.loop/lease.json`) narrows which session is held, see `lease_text`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import time

TYPE_CHECKING = False  # `typing` alone would take a tenth of the time that a hook has
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType
    from typing import NoReturn

    Json = dict[str, object]
    Responds = Callable[[str, bytes, Mapping[str, str], float], str]

HOOKS = ("stop", "session-start")
FORMS = ("claude", "ok")
LIST_ID, CONFIG_FOLDER, PROJECT_FOLDER = "CLAUDE_CODE_TASK_LIST_ID", "CLAUDE_CONFIG_DIR", "CLAUDE_PROJECT_DIR"
STEP = "LOOP_STEP"  # in the environment of every step of ours: an agent at work is no person who wants to stop
STATE_FOLDER, STATE_FILE, LEASE_FILE = ".loop", "workflow-state.json", "lease.json"
LEASE_VERSION, LEASE_SECONDS, MOST_HOLDS = 1, 3600, 50
PATIENCE = 5.0  # seconds for all of it; stdin may be a pipe that nobody closes
MOST_SAID = 8 << 20  # bytes of stdin, which holds the agent's last message
MOST_FILES, MOST_IN_A_FILE, MOST_IN_ALL = 1000, 1 << 20, 16 << 20
DEEPEST = 64  # folders above the one the session is in
SUBJECTS, WAVES, TEXT = 3, 5, 100  # at most, in what we say; of a text its characters
LARGEST = 1e6  # a number that anybody could have meant
_UNFINISHED, _ENDED = ("pending", "in_progress"), ("complete", "cancelled")
_SAFE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_TASK = re.compile(r"([1-9][0-9]{0,8})\.json")
_WAVE = re.compile(r"wave_([1-9][0-9]{0,5})")
_TIME = re.compile(r"[0-9]{4}-[01][0-9]-[0-3][0-9]T([01][0-9]|2[0-3])(:[0-5][0-9]){2}(\.[0-9]{1,9})?Z")
_NEXT = {
    "intent": "read the spec score, continue to shape",
    "shape": "read SHAPE.md, continue to decompose",
    "decompose": "continue creating tasks",
    "planning": "finish the plan, continue to executing",
    "executing": "read the task list, continue the waves",
    "review": "load the review state, continue the resolution",
    "paused": "raise the limit that it stopped at, as `loop status` says, then go on",
}
_OTHERWISE = "let `loop explain` say what comes next"
_RESUME = (
    "Resume loop? [Y/n/status] (ask the person; Y: `loop resume`; n: nothing, or `loop start --fresh REQUEST` for"
    " another one; status: `loop status`)"
)


# --- the program
def is_asked(words: list[str]) -> bool:
    """Whether these words after `loop hook` come from a session; help and a terminal are a person's."""
    return bool(words) and words[0] in HOOKS and not {"-h", "--help"} & {*words} and not os.isatty(0)


def respond(name: str, said: bytes, environ: Mapping[str, str], now: float) -> str:
    """What the hook of this name says to the JSON it got: a reason to hold, an announcement, or nothing."""
    try:
        event = _object(said)
    except ValueError:
        return ""
    return hold(event, environ, now) if name == "stop" else announcement(event, environ, now)


def answer(name: str, form: str, said: str) -> str:
    """The line for stdout. `ok` is the form of hooks that are prompts; Claude Code ignores it from a command."""
    if name != "stop":
        output = {"hookEventName": "SessionStart", "additionalContext": said}
        return json.dumps({"hookSpecificOutput": output} if said else {})
    if form == "ok":
        return json.dumps({"ok": False, "reason": said} if said else {"ok": True})
    return json.dumps({"decision": "block", "reason": said} if said else {})


def main(words: list[str], responds: Responds = respond, patience: float = PATIENCE) -> int:
    """Answer stdin on stdout, whatever comes. Words that no hook knows are told and otherwise passed over."""
    name, form = words[0], _form(words[1:])

    def too_long(_signal: int, _frame: FrameType | None) -> NoReturn:
        _note(f"no answer within {patience:g} s, so the session is let go")
        _put(answer(name, form, ""))
        os._exit(0)

    signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, patience)
    try:
        said = responds(name, _stdin(), os.environ, time.time())
    except Exception as error:  # noqa: BLE001 - a defect of ours must not hold anybody
        _note(f"unexpected {type(error).__name__}: {error}; the session is let go")
        said = ""
    signal.setitimer(signal.ITIMER_REAL, 0)
    _put(answer(name, form, said))
    return 0


def _form(words: list[str]) -> str:
    joined = " ".join(words).replace("--format=", "--format ", 1)
    known = {"": "claude", "--json": "claude", **{f"--format {form}": form for form in FORMS}}
    if (form := known.get(" ".join(joined.split()))) is None:
        _note(f"arguments that no hook knows are passed over: {_line(joined)}")
    return form or ("ok" if "--format ok" in joined else "claude")


def _stdin() -> bytes:
    with open(0, "rb", closefd=False) as stream:
        said = stream.read(MOST_SAID + 1)
    return said if len(said) <= MOST_SAID else b""


def _put(text: str, handle: int = 1) -> None:
    try:
        os.write(handle, f"{text}\n".encode("utf-8", "backslashreplace"))
    except OSError:
        return  # nobody listens


def _note(text: str) -> None:
    _put(f"loop hook: {text}", 2)


# --- the end of a turn
def hold(event: Json, environ: Mapping[str, str], now: float) -> str:
    """Why this turn may not end yet; nothing lets it end. What is asked of the disk is asked last."""
    listed = environ.get(LIST_ID, "")
    if event.get("stop_hook_active") or not listed or STEP in environ:
        return ""
    tasks, more = tasks_in(list_folder(environ))
    unfinished = [task for task in tasks if task.get("status") in _UNFINISHED]
    if not unfinished:
        return ""
    folder = state_folder(event, environ)
    if folder and not (_is_sound(folder) and _is_for(folder, event, listed, now)):
        return ""
    subjects = [_named(task, unfinished) for task in unfinished[:SUBJECTS]]
    left = len(unfinished) - SUBJECTS
    rest = f" and {'at least ' if more else ''}{left} more" if left > 0 else ""
    return f"pending tasks: {', '.join(subjects)}{rest}"


def _named(task: Json, unfinished: list[Json]) -> str:
    blockers, numbers = task.get("blockedBy"), [each.get("id") for each in unfinished]
    waits = [str(each) for each in blockers if each in numbers] if isinstance(blockers, list) else []
    subject = _line(task.get("subject") or f"task {task.get('id')}")
    return f"{subject} (blocked by {_line(', '.join(waits[:SUBJECTS]))})" if waits else subject


def _is_sound(folder: str) -> bool:
    """A state file that says too little is a doubt; none at all is none."""
    try:
        state = _object(_read(f"{folder}/{STATE_FILE}"))
    except FileNotFoundError:
        return True
    except (OSError, ValueError) as error:
        _note(f"{STATE_FILE} cannot be read ({error}), so the session is let go")
        return False
    if missing := [key for key in ("version", "stage", "task") if not state.get(key)]:
        _note(f"{STATE_FILE} lacks {', '.join(missing)}, so the session is let go")
    return not missing


# --- the lease
def lease_text(*, loop: str, list_id: str, session: str = "", expires: str, holds: int = 0) -> str:
    """The text of `.loop/lease.json`: whose turns may be held for the tasks of `list_id`, until when, and how often.

    Whoever drives a loop with a list writes it with `expires=expiry(now)` and the session it was started from; without
    one the first that begins or is held is bound. Whoever ends the loop removes it; the hooks prolong it and count.
    """
    lease = {"version": LEASE_VERSION, "loop": loop, "list": list_id, "session": session, "expires": expires}
    return json.dumps({**lease, "holds": holds}, indent=2) + "\n"


def expiry(now: float) -> str:
    """When a lease that is given or prolonged now ends."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now + LEASE_SECONDS))


def _is_for(folder: str, event: Json, listed: str, now: float) -> bool:
    """Whether this session is the one to hold: where no lease names the list, whoever has it. Each hold counts."""
    try:
        held = _lease(folder, listed)
    except (OSError, ValueError) as error:
        _note(f"{LEASE_FILE} cannot be read ({error}), so the session is let go")
        return False
    if held is None:
        return True
    before, lease = held
    session, bound, holds = event.get("session_id"), lease.get("session"), lease.get("holds", 0)
    if not session or bound not in ("", session) or not _is_live(lease, now) or type(holds) is not int or holds < 0:
        return False
    if holds >= MOST_HOLDS:
        _note(f"held {holds} times for loop {_line(lease.get('loop'))}, which is enough: the session is let go")
        return False
    return _prolong(folder, before, {**lease, "session": session, "holds": holds + 1}, now)


def _bind(folder: str, event: Json, listed: str, now: float) -> None:
    """A session begins: it takes a lease that is nobody's, or its own. `clear` gives the same person a new id."""
    try:
        held = _lease(folder, listed)
    except (OSError, ValueError):
        return
    session = event.get("session_id")
    if held is None or not session or not isinstance(session, str):
        return
    before, lease = held
    if _is_live(lease, now) and (lease.get("session") in ("", session) or event.get("source") == "clear"):
        _prolong(folder, before, {**lease, "session": session}, now)


def _lease(folder: str, listed: str) -> tuple[bytes, Json] | None:
    """The lease of this list, and its text as it was found. Raises `OSError` or `ValueError` if nobody can read it."""
    try:
        text = _read(f"{folder}/{LEASE_FILE}")
    except FileNotFoundError:
        return None
    lease = _object(text)
    if lease.get("version") != LEASE_VERSION:
        raise ValueError("of another version")
    named = lease.get("list")
    return (text, lease) if isinstance(named, str) and _folder_name(named) == _folder_name(listed) else None


def _is_live(lease: Json, now: float) -> bool:
    """Times of this form are in the order of their texts. None that we gave is later than one that is given now."""
    found = _TIME.fullmatch(str(lease.get("expires")))
    return found is not None and expiry(now - LEASE_SECONDS)[:19] < found[0][:19] <= expiry(now)[:19]


def _prolong(folder: str, before: bytes, lease: Json, now: float) -> bool:
    """Written whole, if nobody wrote meanwhile. Not synced: a lease that is lost only lets somebody go."""
    path, new = f"{folder}/{LEASE_FILE}", f"{folder}/.{LEASE_FILE}.{os.getpid()}.new"
    lease = {**lease, "expires": expiry(now)}
    try:
        handle = os.open(new, _NEW, 0o600)
        try:
            os.write(handle, (json.dumps(lease, indent=2) + "\n").encode())
            os.close(handle)
            if _read(path) != before:
                return False
            os.rename(new, path)  # noqa: PTH104 - pathlib would cost more than all of this
        finally:
            if os.path.lexists(new):
                os.unlink(new)  # noqa: PTH108 - as above
    except OSError as error:
        _note(f"{LEASE_FILE} cannot be written ({error.strerror}), so the session is let go")
        return False
    return True


# --- the start of a session
def announcement(event: Json, environ: Mapping[str, str], now: float) -> str:
    """The lines about the loop that goes on here; nothing if there is none. Every source of a start gets them."""
    folder = "" if STEP in environ else state_folder(event, environ)
    try:
        state = _object(_read(f"{folder}/{STATE_FILE}")) if folder else {}
    except (OSError, ValueError):
        return ""
    stage = state.get("stage") or "executing"
    if not state or stage in _ENDED:
        return ""
    if listed := environ.get(LIST_ID, ""):
        _bind(folder, event, listed, now)
    done, wave = _progress(folder, state, environ)
    lines = (
        "[LOOP RESUME] Active loop detected",
        f"Stage: {_line(stage)} | Spec: {_number(state.get('spec_score'))}/10 | Fit: {_number(state.get('fit_score'))}",
        f"Progress: {done} tasks | Wave: {wave}",
        f"Reviews: {_reviews(state.get('reviews'))}",
        f"Next: {_line(state.get('needs') or _NEXT.get(str(stage), _OTHERWISE))}",
        f"Task: {_line(state.get('task') or '?')}",
        _RESUME,
    )
    return "\n".join(lines)


def _progress(folder: str, state: Json, environ: Mapping[str, str]) -> tuple[str, str]:
    """`2/6`, and the lowest wave that is not finished; where all are, the last one."""
    tasks, more = tasks_in(list_folder(environ)) if environ.get(LIST_ID) else ([], False)
    loop = state.get("loop")
    if not tasks and loop and isinstance(loop, str) and loop == _folder_name(loop):
        tasks, more = tasks_in(f"{folder}/workflow/{loop}/tasks")
    if not tasks or more:
        return "?/?", "?"
    unfinished = [task for task in tasks if task.get("status") != "completed"]
    waves = [wave for task in unfinished or tasks if (wave := _wave(task)) is not None]
    shown = str((min if unfinished else max)(waves)) if waves else "?"
    return f"{len(tasks) - len(unfinished)}/{len(tasks)}", shown


def _wave(task: Json) -> int | None:
    metadata = task.get("metadata")
    wave = metadata.get("wave") if isinstance(metadata, dict) else None
    return wave if type(wave) is int and 0 < wave <= MOST_FILES else None


def _reviews(found: object) -> str:
    reviews = found if isinstance(found, dict) else {}
    waves = sorted((int(named[1]), key) for key in reviews if (named := _WAVE.fullmatch(key)))
    parts = [f"{len(waves) - WAVES} earlier"] if len(waves) > WAVES else []
    for number, key in waves[-WAVES:]:
        wave = reviews[key] if isinstance(reviews[key], dict) else {}
        counts = [f"{what} {_number(wave.get(what))}" for what in ("issues", "blockers")] + _whose(wave)
        parts.append(f"wave {number} {_number(wave.get('score'))}/10 ({', '.join(counts)})")
    if isinstance(thorough := reviews.get("thorough"), dict):
        passed = "passed" if thorough.get("passed") is True else "not passed"
        left = [f"blockers remaining {_number(thorough.get('blockers_remaining'))}", *_whose(thorough)]
        parts.append(f"thorough {passed} ({', '.join(left)})")
    return "; ".join(parts) or "none yet"


def _whose(review: Json) -> list[str]:
    return ["by another tool"] if review.get("taken_over") is True else []


# --- files, and what stands in them
def list_folder(environ: Mapping[str, str]) -> str:
    """Where Claude Code keeps the tasks of the list that the environment names."""
    config = environ.get(CONFIG_FOLDER) or f"{environ.get('HOME') or os.path.expanduser('~')}/.claude"  # noqa: PTH111 - as above
    return f"{config}/tasks/{_folder_name(environ.get(LIST_ID, ''))}"


def _folder_name(list_id: str) -> str:
    """As Claude Code makes it, which counts characters beyond the first 65536 as two."""
    return re.sub(r"[^a-zA-Z0-9_-]", lambda found: "-" if found[0] <= "\uffff" else "--", list_id)


def state_folder(event: Json, environ: Mapping[str, str]) -> str:
    """Our folder of the project the session is in, or nothing."""
    cwd = event.get("cwd")
    place = cwd if isinstance(cwd, str) and cwd.startswith("/") and "\0" not in cwd else environ.get(PROJECT_FOLDER, "")
    place = place or os.getcwd()  # noqa: PTH109 - as above
    for _ in range(DEEPEST):
        if place and os.path.isdir(f"{place}/{STATE_FOLDER}"):  # noqa: PTH112 - as above
            return f"{place}/{STATE_FOLDER}"
        place = place.rstrip("/").rpartition("/")[0]
    return ""


def tasks_in(folder: str) -> tuple[list[Json], bool]:
    """The tasks in the order of their numbers, and whether there are more than we read. What is torn is not there."""
    try:
        numbers = sorted(int(named[1]) for name in os.listdir(folder) if (named := _TASK.fullmatch(name)))  # noqa: PTH208
    except (OSError, ValueError):
        return [], False
    tasks, left = [], MOST_IN_ALL
    for number in numbers[:MOST_FILES]:
        try:
            text = _read(f"{folder}/{number}.json") if left > 0 else b""
            left -= len(text)
            tasks.append(_object(text))
        except (OSError, ValueError):
            continue
    return tasks, len(numbers) > MOST_FILES or left <= 0


def _read(path: str) -> bytes:
    """A regular file that is no link. Raises `OSError`, also for one that is too long."""
    handle = os.open(path, _SAFE)
    try:
        seen = os.fstat(handle)
        if not stat.S_ISREG(seen.st_mode) or seen.st_size > MOST_IN_A_FILE:
            raise OSError(0, "no file of ours")
        return os.read(handle, MOST_IN_A_FILE)
    finally:
        os.close(handle)


def _object(text: bytes) -> Json:
    """Raises `ValueError` if it is anything else than a JSON object."""
    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError("too deep") from None
    if not isinstance(found, dict):
        raise ValueError("no JSON object")  # noqa: TRY004 - what a caller expects of bad JSON
    return found


def _line(text: object) -> str:
    """On one line, everything invisible written out, cut: nothing can begin a line of its own or steer a screen."""
    words = " ".join(str(text).split())[: TEXT + 1]
    shown = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in words)
    return shown if len(shown) <= TEXT else f"{shown[: TEXT - 1]}…"


def _number(found: object) -> str:
    """`?` for what is none, and never one of our own."""
    is_one = isinstance(found, int | float) and not isinstance(found, bool) and -LARGEST < found < LARGEST
    return f"{found:g}" if is_one else "?"
