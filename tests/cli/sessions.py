"""A project with an unfinished loop, and a session of Claude Code in it, as its hooks see them."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopwright import hook

NOW = 1_800_000_000.0  # 2027-01-15T08:00:00Z
LATER = "2027-01-15T08:30:00Z"
PROLONGED = "2027-01-15T09:00:00Z"
EARLIER = "2027-01-15T07:59:59Z"
LIST = "my-loop"
# The sample of the state file that people know, with two waves reviewed.
STATE: Mapping[str, Any] = {
    "version": 1,
    "stage": "executing",
    "task": "Add validation to auth",
    "spec_score": 7,
    "fit_score": 35,
    "reviews": {
        "wave_1": {"score": 8, "issues": 2, "blockers": 0},
        "wave_2": {"score": 7, "issues": 3, "blockers": 1},
        "thorough": {"passed": False, "blockers_remaining": 1},
    },
}
SEEN = """\
[LOOP RESUME] Active loop detected
Stage: executing | Spec: 7/10 | Fit: 35
Progress: 1/3 tasks | Wave: 2
Reviews: wave 1 8/10 (issues 2, blockers 0); wave 2 7/10 (issues 3, blockers 1); thorough not passed (blockers remaining 1)
Next: read the task list, continue the waves
Task: Add validation to auth
Resume loop? [Y/n/status] (ask the person; Y: `loop resume`; n: nothing, or `loop start --fresh REQUEST` for another one;\
 status: `loop status`)"""  # noqa: E501 - as it is said


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What a hook gets in a session of this project; every field is what Claude Code 2.1.325 sends."""

    home: Path
    project: Path
    name: str = "one"
    environ: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def begin(cls, folder: Path, **environ: str) -> "Session":
        home, project = folder / "home", folder / "project"
        (project / ".loop").mkdir(parents=True)
        home.mkdir()
        return cls(home=home, project=project, environ={"HOME": str(home), hook.LIST_ID: LIST, **environ})

    @property
    def tasks(self) -> Path:
        return self.home / ".claude" / "tasks" / LIST

    @property
    def state_file(self) -> Path:
        return self.project / ".loop" / "workflow-state.json"

    @property
    def lease_file(self) -> Path:
        return self.project / ".loop" / "lease.json"

    def has_state(self, **changes: object) -> None:
        self.state_file.write_text(json.dumps({**STATE, **changes}))

    def has_tasks(self, *statuses: str, folder: Path | None = None) -> None:
        """One per wave, numbered from 1."""
        place = folder or self.tasks
        place.mkdir(parents=True, exist_ok=True)
        for number, status in enumerate(statuses, start=1):
            task = {"id": str(number), "subject": f"Task {number}", "status": status, "metadata": {"wave": number}}
            (place / f"{number}.json").write_text(json.dumps(task))

    def has_lease(self, session: str = "", *, list_id: str = LIST, expires: str = LATER, holds: int = 0) -> None:
        text = hook.lease_text(loop="auth-1", list_id=list_id, session=session, expires=expires, holds=holds)
        self.lease_file.write_text(text)

    @property
    def lease(self) -> Any:  # noqa: ANN401 - JSON
        return json.loads(self.lease_file.read_text())

    def said(self, **more: object) -> bytes:
        known = {"session_id": self.name, "cwd": str(self.project), "permission_mode": "default"}
        return json.dumps({**known, **more}).encode()

    def stop(self, **more: object) -> str:
        """Why the turn is held, or nothing."""
        event = self.said(**{"hook_event_name": "Stop", "stop_hook_active": False, **more})
        return hook.respond("stop", event, self.environ, NOW)

    def start(self, source: str = "startup", **more: object) -> str:
        """What the session is told, or nothing."""
        event = self.said(hook_event_name="SessionStart", source=source, **more)
        return hook.respond("session-start", event, self.environ, NOW)

    def run(self, *words: str, said: bytes | None = None) -> "subprocess.CompletedProcess[str]":
        """The installed program, as a session starts it."""
        return subprocess.run(
            [str(Path(sys.executable).with_name("loop")), "hook", *words],
            cwd=self.project,
            env={**os.environ, **self.environ},
            input=(self.said(stop_hook_active=False) if said is None else said).decode(),
            capture_output=True,
            text=True,
            check=False,
        )
