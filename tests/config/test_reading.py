import os
from dataclasses import MISSING, fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.configuration import is_table
from loopwright.config import settings as s
from loopwright.config.keys import shape_of
from loopwright.config.loop_toml import SIZE_LIMIT, load_settings, read_settings
from loopwright.config.systems import GateSettings
from loopwright.errors import ConfigError
from loopwright.loops.feedback.limits import FeedbackLimits
from tests.config.emitter import emit
from tests.config.strategies import any_settings

WHOLE = Path(__file__).parent / "samples" / "whole.toml"
LATER = WHOLE.with_name("later.toml")


def refusal(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        read_settings(text, "loop.toml")
    return str(caught.value)


def quiet(_sentence: str) -> None:
    """Hears of the keys that nothing obeys, and says nothing."""


# What is read


def test_an_empty_file_is_all_defaults() -> None:
    assert read_settings("", "loop.toml") == s.Settings()


def test_defaults_are_those_the_guide_promises() -> None:
    settings = s.Settings()
    assert settings.limits.feedback == FeedbackLimits(
        max_feedback_iterations=5, max_consecutive_review_failures=3, max_consecutive_test_failures=3
    )
    assert settings.budget == s.BudgetSettings(usd=25.0, tokens=None, wall=None)
    assert settings.finish == s.FinishSettings(merge=False, auto_continue=True, delete_branch=False)
    assert settings.workspace.protected == ("loop.toml", ".github/**")


def test_every_table_of_a_whole_file_is_read() -> None:
    settings = read_settings(WHOLE.read_text(), "loop.toml")
    assert settings.agents[2] == s.AgentSettings(
        name="mine",
        kind="command",
        argv=("./my-agent", "--headless"),
        env=("HOME", "MY_TOKEN"),
        limits=s.AgentLimits(wall=1800.0, idle=300.0, usd=0.1),
    )
    assert settings.roles == (s.RoleSettings("default", ("claude",)), s.RoleSettings("reviewer", ("codex", "claude")))
    assert settings.checks[1] == s.CheckSettings(
        name="test", run=("pytest", "-q", "--junitxml={report}"), report="junit", timeout=600.0
    )


def test_the_samples_use_every_table_there_is() -> None:
    limits = shape_of(s.LimitSettings).fields
    known = {field.name: field for field in shape_of(s.Settings).fields if is_table(field)}
    known |= {f"limits.{field.name}": field for field in limits if is_table(field)}
    for text, obeyed in ((WHOLE.read_text(), True), (LATER.read_text(), False)):
        assert [name for name, field in known.items() if field.obeyed is obeyed and f"[{name}" not in text] == []


@pytest.mark.parametrize("kind", [s.AgentSettings, s.CheckSettings, GateSettings, s.Settings])
def test_a_key_is_required_exactly_where_the_value_has_no_default(kind: type) -> None:
    needed = {field.name for field in fields(kind) if field.default is MISSING} - {"name"}
    assert {field.name for field in shape_of(kind).fields if field.required} == needed


def test_default_fills_only_the_makers_and_judges_of_everyday() -> None:
    settings = read_settings('[agents.a]\nkind = "claude"\n[roles]\ndefault = "a"', "loop.toml")
    roles = [*s.FILLED_BY_DEFAULT, *s.ONLY_WHEN_NAMED]
    assert [role for role in roles if settings.agents_for(role)] == [
        "creator",
        "developer",
        "reviewer",
        "critic",
        "skill",
    ]


def test_a_named_role_falls_back_in_its_own_order() -> None:
    settings = read_settings(WHOLE.read_text(), "loop.toml")
    assert [agent.name for agent in settings.agents_for("reviewer")] == ["codex", "claude"]
    assert [agent.name for agent in settings.agents_for("developer")] == ["claude"]
    assert settings.agents_for("tester") == ()


def test_a_run_reserves_what_the_file_says_or_what_its_kind_usually_costs() -> None:
    reserved = {
        kind: s.AgentSettings(name="a", kind=kind).reservation for kind in ("claude", "command", "rehearsal", "autofix")
    }
    assert reserved == {"claude": 1.0, "command": 0.1, "rehearsal": 0.0, "autofix": 0.0}
    assert s.AgentSettings(name="a", kind="claude", limits=s.AgentLimits(usd=0.0)).reservation == 0.0


@pytest.mark.parametrize(
    ("written", "seconds"),
    [('"30m"', 1800.0), ('"2s"', 2.0), ('"1h30m"', 5400.0), ('"1.5s"', 1.5), ("90", 90.0), ('"30d"', 2592000.0)],
)
def test_a_time_is_written_as_people_do(written: str, seconds: float) -> None:
    assert read_settings(f"[budget]\nwall = {written}", "loop.toml").budget.wall == seconds


def test_a_budget_and_the_iterations_can_be_unlimited() -> None:
    text = 'budget.usd = "unlimited"\nlimits.workflow.max_iterations = "unlimited"'
    settings = read_settings(text, "loop.toml", quiet)
    assert (settings.budget.usd, settings.limits.workflow.max_iterations) == (None, None)


def test_a_byte_order_mark_is_no_mistake() -> None:
    assert read_settings("\ufeffversion = 1", "loop.toml") == s.Settings()


# Round trips


@given(any_settings())
def test_any_settings_written_as_toml_are_read_back_equal(settings: s.Settings) -> None:
    assert read_settings(emit(settings), "loop.toml", quiet) == settings


@given(any_settings())
def test_settings_survive_the_log(settings: s.Settings) -> None:
    again = s.Settings.from_json(settings.to_json())
    assert (again, again.digest) == (settings, settings.digest)


def test_no_password_of_an_address_gets_into_the_log() -> None:
    settings = read_settings(WHOLE.read_text(), "loop.toml")
    assert settings.notify.urls == ("mailto://a:secret@example.com", "slack://x/y")
    assert s.Settings.from_json(settings.to_json()).notify.urls == ("mailto://…", "slack://…")
    assert "secret" not in settings.to_json()


def test_the_digest_follows_the_meaning_and_not_the_spelling() -> None:
    one = read_settings('[budget]\nwall = "1h"  # an hour', "loop.toml")
    other = read_settings("budget = { wall = 3600 }", "loop.toml")
    changed = read_settings("budget = { wall = 3601 }", "loop.toml")
    assert one.digest == other.digest != changed.digest


def test_settings_of_an_older_log_take_the_defaults_of_what_is_new() -> None:
    assert s.Settings.from_json('{"version":1}') == s.Settings()


def outcome(text: str) -> s.Settings | str:
    try:
        return read_settings(text, "loop.toml")
    except ConfigError as error:
        return str(error)


@given(st.text(max_size=200))
def test_any_text_gives_settings_or_one_printable_sentence(text: str) -> None:
    read = outcome(text)
    assert isinstance(read, s.Settings) or read.isprintable()


_FRAGMENTS = (
    *("[checks.a]", 'run = ["x"]', "run = {a = 1}", 'run = "x y"', 'after = "a"', "floor = nan"),
    *("[limits]", "parallel = 1", "parallel = -1", "parallel = 2020-01-01", "limits = inf", "limits."),
    *("[[agents]]", "agents = true", "[roles]", 'default = "a"', 'version = "\\u202e"', '"\u202e" = 1'),
    *("\x00", "'", '"', 'x = """', "x = 0x" + "f" * 4000),
)


@given(st.lists(st.sampled_from(_FRAGMENTS), max_size=8).map("\n".join))
def test_any_mixture_of_fragments_gives_settings_or_one_printable_sentence(text: str) -> None:
    read = outcome(text)
    assert isinstance(read, s.Settings) or read.isprintable()


# The file


def test_the_file_of_a_repository_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "loop.toml").write_text("[limits]\nparallel = 2\n")
    assert load_settings(tmp_path).limits.parallel == 2


def test_a_missing_file_names_the_command_that_writes_one(tmp_path: Path) -> None:
    assert _load_refusal(tmp_path) == f"loop.toml: not found in {tmp_path}; run `loop setup` to write one"


def test_a_pipe_in_place_of_the_file_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "loop.toml")
    assert _load_refusal(tmp_path) == "loop.toml: is not a regular file"


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loop.toml").mkdir()
    assert _load_refusal(tmp_path) == "loop.toml: is not a regular file"


def test_a_link_that_leads_to_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loop.toml").symlink_to("loop.toml")
    assert "loop.toml: cannot be opened: " in _load_refusal(tmp_path)


def test_a_huge_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loop.toml").write_text("#" * (SIZE_LIMIT + 1))
    assert _load_refusal(tmp_path) == "loop.toml: is larger than 256 KiB"


def test_a_file_that_is_not_text_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "loop.toml").write_bytes(b"version = 1\n\xff\n")
    assert _load_refusal(tmp_path) == "loop.toml:2: is not UTF-8 text"


def _load_refusal(root: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        load_settings(root)
    return str(caught.value)
