from loopwright.kernel.changing import replace
from loopwright.kernel.judges import Judge
from loopwright.kernel.model import Change
from loopwright.kernel.risks import AddedText, GateRule, Risk, evidence_of, risks_in

PATHS = GateRule(gate="database", name="migrations", paths=("**/migrations/**",), apart=("docs/systems/**",))
WORDS = GateRule(gate="security", name="secrets", words=(r"\bsecret\b", r"\bpassword\b"), apart=("tests/**",))
SQL = Change(path="app/Migrations/1.sql", how="added", blob="b1", mode="100644")
CODE = Change(path="src/a.py", how="changed", blob="b2", mode="100644")


def text(*lines: str, path: str = "src/a.py", first: int = 1) -> AddedText:
    return AddedText(path=path, lines=tuple(enumerate(lines, start=first)))


def words_in(*lines: str, first: int = 1, change: Change = CODE) -> tuple[Risk, ...]:
    return risks_in((change,), (text(*lines, first=first, path=change.path),), (WORDS,))


def mark_of(*risks: Risk) -> str:
    (risk,) = risks
    return risk.mark


def test_a_path_calls_for_its_gate_in_any_case_and_is_bound_to_its_content() -> None:
    (risk,) = risks_in((SQL, CODE), (), (PATHS,))
    assert risk == Risk(gate="database", rule="migrations", file="app/Migrations/1.sql", mark=risk.mark)
    assert (len(risk.mark), risk.place) == (16, "app/Migrations/1.sql")
    again = (replace(SQL, how="changed", old="b0", old_mode="100644"), replace(CODE, blob="other"))
    assert risks_in(again, (), (PATHS,)) == (risk,)
    for other in (replace(SQL, blob="b3"), replace(SQL, mode="100755"), replace(SQL, how="removed", blob="", mode="")):
        (changed,) = risks_in((other,), (), (PATHS,))
        assert changed.mark != risk.mark


def test_a_file_that_is_known_by_its_name_calls_for_its_gate() -> None:
    rule = GateRule(gate="architecture", name="dependencies", judges=(Judge.MANIFEST,))
    paths = ("web/package.json", "uv.lock", "src/package.py")
    found = risks_in(tuple(Change(path=path, how="added", blob="b") for path in paths), (), (rule,))
    assert [risk.file for risk in found] == ["web/package.json"]


def test_what_is_kept_apart_never_calls_for_it() -> None:
    kept = Change(path="docs/systems/s/migrations/x.md", how="added", blob="b")
    tested = Change(path="tests/t.py", how="added", blob="b")
    added = text("password", path="tests/t.py")
    assert risks_in((kept, tested), (added, text("secret", path=kept.path)), (PATHS, WORDS)) == ()


def test_the_first_line_with_a_word_is_shown_and_all_of_them_are_bound() -> None:
    (risk,) = words_in("x = 1", "  PASSWORD  =  get(\x1b)", "secret = 2" + "x" * 500)
    assert risk == Risk(
        gate="security", rule="secrets", file="src/a.py", line=2, text="PASSWORD = get(\\x1b)", mark=risk.mark
    )
    assert risk.place == "src/a.py:2"
    (long,) = words_in("secret " + "x" * 500)
    assert long.text.startswith("secret xxx")
    assert len(long.text) < 240
    assert risk.mark != mark_of(*words_in("PASSWORD = get(\x1b)"))


def test_a_mark_stays_while_the_lines_that_called_for_it_do() -> None:
    before = mark_of(*words_in("password = 1", "x = 1", "secret = 2"))
    assert before == mark_of(*words_in("y = 3", "    secret  = 2", "password = 1", first=40))
    assert before == mark_of(*words_in("password = 1", "secret = 2", change=replace(CODE, blob="b9")))
    elsewhere = (SQL, CODE)
    (_, beside) = risks_in(elsewhere, (text("password = 1", "secret = 2"),), (PATHS, WORDS))
    assert before == beside.mark
    for other in (("password = 2", "secret = 2"), ("password = 1",), ("password = 1", "secret = 2", "secret = 2")):
        assert before != mark_of(*words_in(*other))


def test_words_in_prose_and_in_locks_are_no_change() -> None:
    for path in ("README.md", "docs/a.txt", "CHANGELOG", "sub/LICENSE.txt", "uv.lock", "doc.RST"):
        assert words_in("the password", change=replace(CODE, path=path)) == ()
    within = replace(WORDS, within=("**/*.md",))
    prose = replace(CODE, path="prompts/a.md")
    assert len(risks_in((prose, CODE), (text("secret", path=prose.path), text("secret")), (within,))) == 1


def test_what_cannot_be_read_may_hold_every_word_unless_it_is_a_picture() -> None:
    (risk,) = risks_in((CODE,), (AddedText(path="src/a.py", whole=False),), (WORDS,))
    assert risk == Risk(
        gate="security",
        rule="secrets",
        file="src/a.py",
        text="it is no text, or too large to be looked into",
        mark=risk.mark,
    )
    (other,) = risks_in((replace(CODE, blob="b9"),), (AddedText(path="src/a.py", whole=False),), (WORDS,))
    assert other.mark != risk.mark
    logo = replace(CODE, path="static/Logo.PNG")
    assert risks_in((logo,), (AddedText(path=logo.path, whole=False),), (WORDS,)) == ()


def test_one_risk_for_a_rule_and_a_file_in_a_settled_order() -> None:
    both = replace(PATHS, words=("create",))
    changes = (replace(SQL, path="z/migrations/2.sql"), SQL, CODE)
    added = (text("create", path=SQL.path), text("create", "create"))
    found = risks_in(changes, added, (WORDS, both, both))
    assert [(risk.file, risk.line) for risk in found] == [
        ("app/Migrations/1.sql", 0),
        ("src/a.py", 1),
        ("z/migrations/2.sql", 0),
    ]
    assert risks_in(changes[::-1], added[::-1], (WORDS, both)) == found


def test_two_files_of_one_name_are_one_place() -> None:
    twins = (SQL, replace(SQL, blob="b7"))
    (risk,) = risks_in(twins, (), (PATHS,))
    (one,) = risks_in((SQL,), (), (PATHS,))
    assert (risk.mark != one.mark, risks_in(twins[::-1], (), (PATHS,))) == (True, (risk,))
    texts = (text("x"), text("a secret", "x"))
    (word,) = risks_in((CODE, replace(CODE, blob="b8")), texts, (WORDS,))
    assert word.line == 1


def test_the_evidence_is_that_of_all_marks_in_any_order() -> None:
    one, two = (Risk(gate="g", rule="r", file="f", mark=mark) for mark in ("m1", "m2"))
    assert evidence_of((one, two)) == evidence_of((two, one)) == evidence_of((two, one, one))
    assert len({evidence_of((one, two)), evidence_of((one,)), evidence_of((two,))}) == 3
    assert (len(evidence_of((one,))), evidence_of(())) == (24, "")
