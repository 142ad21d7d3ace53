"""The receipts of a loop: those that it made, and those of earlier loops that its verdicts rest on."""

from __future__ import annotations

from dataclasses import replace

from loopwright.adapters.checks.receipts import Receipt, read_receipt
from loopwright.app.loops import view
from loopwright.app.project import Project
from loopwright.app.views.answers import ReceiptList, TreeEvidence
from loopwright.app.views.evidence import evidence_of, show_evidence
from loopwright.kernel.codec import DecodeError, decode
from loopwright.kernel.events import ChecksReported
from loopwright.kernel.evidence import Evidence
from loopwright.kernel.model import LoopId
from loopwright.kernel.record import event_of
from loopwright.kernel.trust import Canary
from loopwright.ports.hashes import receipt_name


async def receipts_of(project: Project, loop: LoopId) -> ReceiptList:
    texts = await project.store.receipts(loop)
    read = [read_receipt(text) or _read_canary(text) for text in texts]
    own = tuple(each for each in read if isinstance(each, Receipt))
    reports = await _reports(project, loop)
    earlier = await _reused(project, reports, {receipt.key for receipt in own})
    seen = (*(each for each in read if isinstance(each, Canary)), *(each.canary for each in reports if each.canary))
    return ReceiptList(
        loop=loop,
        receipts=tuple(sorted((*earlier, *own), key=lambda receipt: receipt.at)),
        canaries=tuple({(each.said, each.sentence): each for each in seen}.values()),
        evidence=_list_evidence(reports, evidence_of(await view(project, loop))),
        reused=tuple(receipt.key for receipt in earlier),
    )


def _list_evidence(reports: list[ChecksReported], newest: Evidence | None) -> tuple[TreeEvidence, ...]:
    """Return what each report shows of its tree, as the last one says; the last tree with what people decided on it."""
    shown = {each.tree: each.evidence for each in reports if each.evidence is not None}
    last = next((each.tree for each in reversed(reports) if each.tree in shown), None)
    if newest is not None and last is not None:
        shown[last] = replace(shown[last], decisions=newest.decisions)
    listed = ((tree, show_evidence(each)) for tree, each in shown.items())
    return tuple(TreeEvidence(tree=tree, evidence=each) for tree, each in listed if each)


def _read_canary(text: str) -> Canary | None:
    """None for what is nothing to show: the answer to a question that is not asked twice."""
    try:
        return decode(Canary, text)
    except DecodeError:
        return None


async def _reports(project: Project, loop: LoopId) -> list[ChecksReported]:
    records = await project.store.read(loop)
    events = [event_of(record) for record in records if record.kind == ChecksReported.__name__]
    return [event for event in events if isinstance(event, ChecksReported)]


async def _reused(project: Project, reports: list[ChecksReported], own: set[str]) -> list[Receipt]:
    """Exactly those that were taken: what stands under the key by now may be of a later run."""
    found: dict[str, Receipt] = {}
    for report in reports:
        for key in {result.receipt for result in (*report.results, *report.landing, *report.also)} - own - {""}:
            text = await project.store.receipt(key)
            receipt = read_receipt(text) if text and receipt_name(key, text) in report.rests_on else None
            if receipt is not None:
                found[key] = receipt
    return list(found.values())
