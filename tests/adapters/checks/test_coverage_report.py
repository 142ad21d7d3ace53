import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.adapters.checks.coverage_report import FileCoverage, ranges, read_coverage
from loopwright.adapters.checks.reports import ReportRefused

COBERTURA = """<?xml version="1.0" ?>
<!DOCTYPE coverage SYSTEM "http://cobertura.sourceforge.net/xml/coverage-04.dtd">
<coverage version="7" line-rate="0.5">
  <sources><source>/checkout/tree/src</source></sources>
  <packages><package name="."><classes>
    <class name="a.py" filename="p/a.py"><methods><method name="f"><lines><line number="3" hits="0"/></lines></method>
    </methods><lines><line number="1" hits="2"/><line number="3" hits="0"/><line number="4" hits="0"/></lines></class>
    <class name="Inner" filename="p/a.py"><lines><line number="4" hits="1"/></lines></class>
    <class name="lib" filename="/usr/lib/python3/os.py"><lines><line number="1" hits="1"/></lines></class>
  </classes></package></packages>
</coverage>
"""
LCOV = "TN:t\nSF:/checkout/tree/src/p/a.py\nFN:1,f\nDA:1,2\nDA:3,0,abc\nDA:4,-1\nLF:3\nend_of_record\nDA:9,0\n"


def everything(_: str) -> bool:
    return True


def read(text: str) -> tuple[FileCoverage, ...]:
    return read_coverage(text.encode(), "/checkout/tree", everything)


def test_cobertura_is_read_and_entries_of_one_file_are_one() -> None:
    assert read(COBERTURA) == (FileCoverage(file="src/p/a.py", covered=(1, 4), missed=(3,)),)


def test_lcov_is_read() -> None:
    assert read(LCOV) == (FileCoverage(file="src/p/a.py", covered=(1,), missed=(3, 4)),)


def test_a_file_is_looked_for_under_every_source_and_by_its_own_name() -> None:
    text = COBERTURA.replace("p/a.py", "src/p/a.py")
    files = {"src/p/a.py"}
    assert [each.file for each in read_coverage(text.encode(), "/checkout/tree", files.__contains__)] == ["src/p/a.py"]


def test_files_outside_the_checkout_are_left_out() -> None:
    assert read("SF:/etc/passwd\nDA:1,1\nend_of_record\nSF:../x.py\nDA:1,1\nend_of_record\n") == ()


def test_the_share_of_covered_lines() -> None:
    assert FileCoverage(file="a", covered=(1, 2, 3), missed=(4,)).percent == 75.0
    assert FileCoverage(file="a", covered=(), missed=()).percent == 100.0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "neither Cobertura XML nor lcov"),
        ("all good, 100 %", "neither Cobertura XML nor lcov"),
        ("<html/>", "no Cobertura report"),
        ("<coverage/>", "no Cobertura report"),
        ("<coverage line-rate='1'>", "not XML"),
        ("<coverage line-rate='1'><class filename='a'><line number='x' hits='1'/></class></coverage>", "'x' where"),
        ("<coverage line-rate='1'><class filename='a'><line number='0' hits='1'/></class></coverage>", "a line 0"),
        (f"SF:a\nDA:1,{'9' * 5000}\n", "where a number belongs"),
        ("SF:a\nDA:1\n", "'' where a number belongs"),
        ('<!DOCTYPE coverage [<!ENTITY a "b">]><coverage line-rate="1"/>', "DOCTYPE of its own"),
    ],
)
def test_what_is_no_report_is_refused(text: str, why: str) -> None:
    with pytest.raises(ReportRefused, match=why):
        read(text)


def test_an_entity_bomb_is_refused_before_it_grows() -> None:
    bomb = '<!ENTITY a0 "lol">' + "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(9))
    with pytest.raises(ReportRefused, match="DOCTYPE"):
        read(f'<!DOCTYPE coverage [{bomb}]><coverage line-rate="1"><sources><source>&a9;</source></sources></coverage>')


def test_a_file_from_elsewhere_is_not_fetched() -> None:
    external = '<!DOCTYPE coverage SYSTEM "file:///etc/passwd"><coverage line-rate="1"><sources/></coverage>'
    assert read(external) == ()


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    for data in (content, b"SF:a\nDA:" + content, b"<coverage line-rate='1'>" + content):
        try:
            read_coverage(data, "/r", everything)
        except ReportRefused:
            continue


@pytest.mark.parametrize(("lines", "words"), [((4, 5, 6, 9), "4-6, 9"), ((1,), "1"), ((), ""), ((1, 3, 4), "1, 3-4")])
def test_lines_in_words(lines: tuple[int, ...], words: str) -> None:
    assert ranges(lines) == words
