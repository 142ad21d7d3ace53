import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest

from loopwright.kernel.codec import plain
from loopwright.loops.tickets.insights import data as insight_data
from loopwright.loops.tickets.insights import page as insight_page
from loopwright.loops.tickets.insights import text as insight_text
from loopwright.loops.tickets.insights.cycle import Cycle, Try
from loopwright.loops.tickets.insights.learned import Insights, learned
from loopwright.loops.tickets.insights.patterns import Family, Pattern
from loopwright.loops.tickets.insights.proposals import proposals
from loopwright.loops.tickets.insights.sentences import because
from loopwright.loops.tickets.insights.statistics import Count
from loopwright.loops.tickets.state import Decision
from tests.rooms.tickets.insights.simulated_cycles import PLAIN, simulate
from tests.rooms.tickets.insights.test_insights import EVERYTHING, approved, stuck, tried

Golden = Callable[[str, str], None]
SCHEMA = json.loads((Path(__file__).parents[4] / "schemas" / "insights.schema.json").read_text())
RICH = learned(simulate(EVERYTHING, 1000, 1))
SEVERAL = {
    "nothing": learned(()),
    "under way": learned((Cycle(session="s"),)),
    "one": learned((approved("a"),)),
    "never approved": learned((stuck("a", "tests"), stuck("b"))),
    "cancelled": learned((replace(stuck("a", "tests"), tries=stuck("a").tries[:1], close="cancelled"),)),
    "some approved": learned((approved("a", 2), replace(stuck("b", "tests"), kinds=("data",)))),
    "plain": learned(simulate(PLAIN, 40, 1)),
    "rich": RICH,
}
HOSTILE = '<script>alert(1)</script>"\x1b[31m\u202e`x`'


def shown(found: Insights) -> str:
    return insight_text.plain(insight_text.lines(found)) + "\n"


class Page(HTMLParser):
    """What a browser would make of it: tags with their attributes, and whether they are closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.said: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]


# For people


@pytest.mark.parametrize("name", ["nothing", "under way", "one", "never approved", "some approved", "rich"])
def test_the_screen(name: str, golden: Golden) -> None:
    golden(f"texts/insights-{name.replace(' ', '-')}.txt", shown(SEVERAL[name]))


@pytest.mark.parametrize("name", SEVERAL)
def test_no_line_is_wider_than_a_terminal(name: str) -> None:
    assert [line for line in shown(SEVERAL[name]).splitlines() if len(line) > 80] == []


def test_what_is_not_nothing_is_seen_and_what_is_nothing_is_not() -> None:
    assert insight_text.bar(insight_text.Bar("a", 0.001, ""), "#").strip() == "#"
    assert insight_text.bar(insight_text.Bar("a", 0.0, ""), "#").strip() == ""


def test_more_categories_than_fit_are_counted() -> None:
    names = tuple(f"gap {at}" for at in range(10))
    assert "and 2 categories more" in shown(learned((stuck("s", *names),)))


# As data


@pytest.mark.parametrize("name", SEVERAL)
def test_the_data_fit_the_schema_to_the_letter(name: str) -> None:
    data = json.loads(json.dumps(plain(insight_data.document(SEVERAL[name])), allow_nan=False))
    jsonschema.Draft202012Validator(SCHEMA).validate(data)
    assert list(data)[:6] == ["cycles", "approved", "escalated", "iterations_to_approval", "gaps", "proposals"]


def test_the_data_name_the_planted_gap_with_its_share_and_evidence() -> None:
    (gap,) = plain(insight_data.document(RICH))["gaps"]
    assert (gap["category"], abs(gap["share"] - 0.4) < 0.05, len(gap["evidence"])) == ("error handling", True, 20)


# As a page


@pytest.mark.parametrize("name", SEVERAL)
def test_the_page_is_whole_and_needs_nothing_but_itself(name: str) -> None:
    page = Page(insight_page.page(SEVERAL[name]))
    assert page.open == []
    assert not {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "object"}
    assert not [attrs for _, attrs in page.tags if {"src", "href", "onload", "onclick", "style"} & set(attrs)]
    assert "url(" not in insight_page.page(SEVERAL[name])


@pytest.mark.parametrize("name", SEVERAL)
def test_every_plot_has_a_title_a_description_and_its_numbers(name: str) -> None:
    text = insight_page.page(SEVERAL[name])
    page = Page(text)
    named = [(attrs["aria-labelledby"] or "").split() for attrs in page.all("svg")]
    ids = [attrs["id"] for tag in ("title", "desc") for attrs in page.all(tag) if "id" in attrs]
    assert sorted(each for pair in named for each in pair) == sorted(str(each) for each in ids)
    assert len(set(ids)) == len(ids)
    drawn = list(insight_page.plots(SEVERAL[name])) if SEVERAL[name].cycles else []
    assert len(page.all("table")) == len(page.all("svg")) == len(drawn)
    assert "{titles}" not in text
    assert '"nan"' not in text


def test_nothing_is_drawn_outside_of_its_plot() -> None:
    for svg in re.findall(r"<svg.*?</svg>", insight_page.page(RICH), re.DOTALL):
        (box,) = re.findall(r'viewBox="0 0 (\d+) ([\d.]+)"', svg)
        across = [float(x) for x in re.findall(r'\b(?:x|cx|x1|x2)="([-\d.]+)"', svg)]
        down = [float(y) for y in re.findall(r'\b(?:y|cy|y1|y2)="([-\d.]+)"', svg)]
        assert 0 <= min(across) <= max(across) <= float(box[0])
        assert 0 <= min(down) <= max(down) <= float(box[1])


def test_light_and_dark_have_enough_contrast() -> None:
    """By WCAG: 4.5 for text, 3 for what is drawn."""
    styles = re.findall(r"--(\w+): (#[0-9a-f]{6})", insight_page.page(RICH))
    assert len(styles) == 12
    for colours in (dict(styles[:6]), dict(styles[6:])):
        for back in ("back", "panel"):
            assert contrast(colours["text"], colours[back]) >= 7
            assert contrast(colours["soft"], colours[back]) >= 4.5
        assert contrast(colours["bar"], colours["back"]) >= 3


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_what_agents_wrote_is_shown_and_never_obeyed() -> None:
    one = tried("s", 1, "ROUTE_BACK", HOSTILE)
    bad = replace(one, creator=HOSTILE, critics=(HOSTILE,))
    tries = (bad, replace(bad, number=2, decision=Decision.ESCALATE))
    cycles = [Cycle(session=f"s{at}", tries=tries, close="escalated", cycle_type=HOSTILE) for at in range(9)]
    found = learned((*cycles, *(approved(f"a{at}", kinds=(HOSTILE,)) for at in range(9))))
    assert found.patterns
    page = insight_page.page(found)
    assert "<script" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "\x1b" not in shown(found)


# Sentences


def pattern(family: Family, **facts: object) -> Pattern:
    given = {"family": family, "subject": "it", "own": Count(3, 4), "rest": Count(1, 4), "p": 0.00234, **facts}
    return Pattern(**given)  # type: ignore[arg-type]


def test_a_pattern_in_one_sentence_with_its_numbers(golden: Golden) -> None:
    cycle = Cycle(session="s", tries=(Try(ticket="T", number=1, decision=Decision.APPROVE, accuracy=1, score=1),) * 5)
    told = (
        pattern("kind"),
        pattern("gap"),
        pattern("gap", subject="security"),
        pattern("guidance", subject="example"),
        pattern("guidance", subject="none", side="less"),
        pattern("guidance", subject="none"),
        pattern("guidance", subject="place", side="less"),
        pattern("agents", subject="alpha + kim"),
        pattern("score", subject="accuracy", at=0.8),
        pattern("coverage", subject="coverage of new code", at=70.0),
        pattern("severity", subject="an open high finding"),
        pattern("limit", at=7.0),
        pattern("limit", side="less", at=2.0),
        pattern("limit", side="less", at=4.0, own=Count(0, 90), p=1e-9),
    )
    lines = [
        f"{because(each)}\n  {made.setting or '-'}: {made.change}\n  {made.expected}\n"
        for each, made in zip(told, proposals(told, (cycle,)), strict=True)
    ]
    golden("texts/insight-sentences.txt", "\n".join(lines))
