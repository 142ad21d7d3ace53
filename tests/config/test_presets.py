"""A preset is a set of habits; what the file says itself goes before it."""

import pytest

from loopwright.config.loop_toml import read_settings
from loopwright.errors import ConfigError


@pytest.mark.parametrize(
    ("preset", "mode", "retries"),
    [("personal", "autonomous", 5), ("team", "hybrid", 3), ("enterprise", "supervised", 1)],
)
def test_a_preset_says_how_much_is_asked_and_how_often_it_is_tried(preset: str, mode: str, retries: int) -> None:
    settings = read_settings(f'[lifecycle]\npreset = "{preset}"\n', "loop.toml")
    assert (settings.autonomy.mode, settings.limits.lifecycle.max_retries) == (mode, retries)


def test_what_the_file_says_itself_goes_before_its_preset() -> None:
    text = '[lifecycle]\npreset = "enterprise"\n[autonomy]\nmode = "hybrid"\n[limits.lifecycle]\nmax_retries = 7\n'
    settings = read_settings(text, "loop.toml")
    assert (settings.autonomy.mode, settings.limits.lifecycle.max_retries) == ("hybrid", 7)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("lifecycle = 3\n", "lifecycle"),
        ('[lifecycle]\npreset = "team"\n[limits]\nlifecycle = 3\n', "limits.lifecycle"),
        ('[lifecycle]\npreset = "lonely"\n', "lifecycle.preset"),
    ],
)
def test_what_is_no_table_is_refused_as_that(text: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_settings(text, "loop.toml")
    assert f": {says}: " in str(caught.value)
