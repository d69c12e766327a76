"""Why a question failed: what the known statement has and the shown one lacks, and the call that may mend it."""

from __future__ import annotations

import pytest

from engine.values.calibration import KnownQuestion
from engine.values.evaluation import EvaluateReply, Verdict
from pgparley.evaluation.causes import Cause, Diagnosis, diagnosis
from pgparley.evaluation.report import Judged


def found(known: str, shown: str | None, verdict: Verdict = Verdict.WRONG, detail: str = "") -> Diagnosis:
    asked = KnownQuestion("How much?", "own", known)
    return diagnosis(Judged(asked, EvaluateReply(verdict, detail, shown)))


JOINED = "SELECT c.nm FROM erp.ordh o JOIN erp.cust c ON c.cno = o.cno"
MISSING = {
    (JOINED, "SELECT cust.nm FROM cust JOIN ordh ON cust.cno = ordh.ono"): (
        Cause.JOIN,
        "declare_join('own.erp.cust.cno', 'own.erp.ordh.cno')",
    ),
    (JOINED, "SELECT ono FROM erp.ordh"): (Cause.DESCRIPTION, "describe('own.erp.cust', '…')"),
    ("SELECT count(*) FROM t", None): (Cause.DESCRIPTION, "describe('own.t', '…')"),
    ("SELECT net FROM t", "SELECT gross FROM t"): (Cause.DESCRIPTION, "describe('own.t.net', '…')"),
    ("SELECT 1 FROM s.t WHERE cty IN ('Lyon')", "SELECT 1 FROM t WHERE cty = 'lyon'"): (
        Cause.VALUE,
        "SELECT nl_catalog.allow_values('own.s.t.cty');",
    ),
    ("SELECT sum(l.qty * l.pr) FROM l", "SELECT sum(l.qty + l.pr) FROM l"): (
        Cause.TERM,
        "define_term('own', '…', 'l.qty * l.pr')",
    ),
    ("SELECT max(a) FROM t", "SELECT min(a) FROM t"): (
        Cause.MODEL,
        "verify('own', 'How much?', 'SELECT max(a) FROM t')",
    ),
}


@pytest.mark.parametrize(("known", "shown"), MISSING)
def test_what_is_missing_is_proposed(known: str, shown: str | None) -> None:
    cause, proposal = MISSING[known, shown]
    told = found(known, shown, Verdict.REFUSED if shown is None else Verdict.WRONG)
    assert told.cause is cause
    assert proposal in told.proposal


def test_rights_and_a_model_that_fails_are_no_fault_of_the_catalog() -> None:
    denied = found("SELECT 1 FROM t", None, Verdict.UNJUDGED, "42501: permission denied for table t")
    assert denied.cause is Cause.RIGHTS
    unread = found("SELECT 1 FROM t", None, Verdict.UNJUDGED, 'nothing of it may be read by "root"')
    assert unread == Diagnosis(Cause.RIGHTS, "pgparley catalog login own ROLE, for the ROLE of --user")
    assert found("SELECT 1 FROM t", None, Verdict.FAILED, "out of time") == Diagnosis(Cause.MODEL)
