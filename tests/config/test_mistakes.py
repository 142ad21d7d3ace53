"""Every mistake is one sentence with the line, the key, what was found and what to write instead."""

from pathlib import Path

import pytest

from loopwright.config.loop_toml import read_settings
from loopwright.config.settings import Settings
from loopwright.config.systems import NotifySettings
from loopwright.errors import ConfigError

SAMPLES = Path(__file__).parent / "samples"
CHECK = '[checks.test]\nrun = ["pytest"]\n'
LATER = (SAMPLES / "later.toml").read_text()
BLOCKS = (SAMPLES / "mistakes.txt").read_text().split("----\n")[1:]


def refusal(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        read_settings(text, "loop.toml")
    assert caught.value.exit_code == 2
    return str(caught.value)


@pytest.mark.parametrize("block", BLOCKS)
def test_a_mistake_is_refused_with_its_sentence(block: str) -> None:
    text, _, sentence = block.removesuffix("\n").rpartition("\n=> ")
    assert refusal(text) == sentence


def test_a_text_that_ends_too_early_is_refused_with_its_last_line() -> None:
    assert refusal('\nx = """\n\n') == "loop.toml:4: not valid TOML: unterminated string"


def test_a_nesting_that_would_exhaust_the_parser_is_refused() -> None:
    assert refusal("x = " + "[" * 20000) == "loop.toml: lists or tables are nested too deep"
    assert refusal("\n" + "a." * 100000 + "b = 1") == "loop.toml:2: a key has more than 20 parts"


def test_a_number_of_thousands_of_digits_is_refused() -> None:
    newer = "is for a newer Loopwright, this one reads version 1; upgrade to go on"
    assert refusal("version = " + "9" * 5000) == "loop.toml: not valid TOML: a number has thousands of digits"
    assert refusal("version = 0x" + "f" * 5000) == f"loop.toml:1: version: a very large number {newer}"
    assert refusal("version = 2\nunheard_of = 1") == f"loop.toml:1: version: the number 2 {newer}"


def test_a_word_of_a_command_that_no_program_could_be_given_is_refused() -> None:
    assert refusal('[checks.test]\nrun = ["a\\u0000"]') == (
        'loop.toml:2: checks.test.run[0]: expected text without a null character, found the text "a\\u0000"'
    )


@pytest.mark.parametrize("timeout", ['"5 parsecs"', "0", "-3", '"0s"', '""', '"1e3s"', '"31d"', "1.5", '"m"', '"5s5m"'])
def test_an_impossible_time_is_refused(timeout: str) -> None:
    sentence = refusal(CHECK + f"timeout = {timeout}")
    assert sentence.startswith('loop.toml:3: checks.test.timeout: expected a time such as "30m", "90s" or "1h30m", or')


@pytest.mark.parametrize(
    ("pattern", "advice"),
    [
        ("/etc/passwd", "it may not be absolute"),
        ("C:/x", "it may not be absolute"),
        ("../up", "it may not lead out with .."),
        ("a/../b", "it may not lead out with .."),
        ("a/..", "it may not lead out with .."),
        ("./tests/**", 'write it without "."-folders, empty folders and backslashes'),
        ("a//b", 'write it without "."-folders, empty folders and backslashes'),
    ],
)
def test_a_protected_path_stays_below_the_repository(pattern: str, advice: str) -> None:
    assert refusal(f'[workspace]\nprotected = ["ok", "{pattern}"]') == (
        'loop.toml:2: workspace.protected[1]: expected a path below the repository such as "tests/**",'
        f' found the text "{pattern}"; {advice}'
    )


@pytest.mark.parametrize("report", ["junit", "sarif", "coverage"])
def test_a_report_needs_a_place(report: str) -> None:
    assert refusal(CHECK + f'report = "{report}"') == (
        f"loop.toml:2: checks.test.run: report = '{report}' needs the word {{report}} in run,"
        " where the command is told to write it"
    )


# What is known and not obeyed


def warnings(text: str) -> list[str]:
    said: list[str] = []
    read_settings(text, "loop.toml", said.append)
    return said


def test_a_loop_in_flight_goes_on_with_a_warning_for_each_table_or_key_that_nothing_obeys() -> None:
    named = [said.split(": ")[1] for said in warnings(LATER)]
    assert named == ["sandbox.network"]
    assert warnings(LATER)[0] == "loop.toml:3: sandbox.network: is not obeyed by this version yet; remove it"
    assert warnings(CHECK) == []


def test_what_nothing_obeys_is_read_for_a_loop_that_was_pinned_to_it() -> None:
    settings = read_settings(LATER, "loop.toml", lambda _sentence: None)
    assert settings.sandbox.network == ("registry", "model")
    assert Settings.from_json(settings.to_json()) == settings


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[gates.empty]", "loop.toml:1: gates.empty: a gate needs paths, approvers or both"),
        (
            '[lifecycle]\ndomain = ".."',
            'loop.toml:2: lifecycle.domain: expected the name of one folder, found the text ".."',
        ),
    ],
)
def test_a_wrong_value_is_refused_even_where_nothing_would_obey_it(text: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_settings(text, "loop.toml", lambda _sentence: None)
    assert str(caught.value) == sentence
