from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from loopwright.adapters.agents.redaction import Redactor

ENV = {"MY_TOKEN": "s3cr3t-value", "OTHER_KEY": "s3cr3t-value-longer", "PATH": "/usr/bin:/bin", "A_KEY": "short"}


def test_secrets_are_replaced_by_their_names_the_longest_first() -> None:
    text = "x s3cr3t-value y s3cr3t-value-longer z /usr/bin:/bin short"
    assert Redactor(ENV).text(text) == "x [redacted:MY_TOKEN] y [redacted:OTHER_KEY] z /usr/bin:/bin short"


def test_without_secrets_nothing_changes() -> None:
    redactor = Redactor({"PATH": "/usr/bin"})
    assert not redactor.knows_any
    assert redactor.data(b"/usr/bin") == b"/usr/bin"


@given(
    st.lists(st.sampled_from([b"s3cr3t-value", b"s3cr3t-value-longer", b"s3cr", b"-longer", b"\xff", b"text "])),
    st.data(),
)
def test_where_the_chunks_are_cut_makes_no_difference(parts: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)))))
    edges = [0, *cuts, len(whole)]
    chunks = [whole[start:end] for start, end in pairwise(edges)]
    redacted = b"".join(Redactor(ENV).stream(chunks))
    assert redacted == Redactor(ENV).data(whole)
    assert b"s3cr3t-value" not in redacted
