"""The report as JUnit's XML, for CI: a test case a question, which passes where the first statement is right."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from engine.evaluation.types import Verdict
from pgparley.evaluation.report import Judged, Report
from pgparley.terminal import printable


def junit(report: Report) -> bytes:
    """The file's bytes. Errors fail as errors, questions that could not be judged are skipped."""
    suite = ET.Element(
        "testsuite",
        name="pgparley eval",
        tests=str(len(report.questions)),
        failures=str(sum(_outcome(each) == "failure" for each in report.questions)),
        errors=str(sum(_outcome(each) == "error" for each in report.questions)),
        skipped=str(sum(_outcome(each) == "skipped" for each in report.questions)),
        time=f"{sum(each.reply.seconds for each in report.questions):.3f}",
    )
    for each in report.questions:
        asked, reply = each.asked, each.reply
        names = {"classname": printable(asked.database), "name": printable(asked.question)}
        case = ET.SubElement(suite, "testcase", names, time=f"{reply.seconds:.3f}")
        outcome = _outcome(each)
        if outcome is None:
            continue
        message = f"{reply.verdict}: {reply.detail}" if reply.detail else str(reply.verdict)
        found = ET.SubElement(case, outcome, message=printable(message))
        if outcome == "failure":
            found.set("type", reply.verdict)
            found.text = f"known: {printable(asked.sql)}\nshown: {printable(reply.sql or 'none')}"
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f"<?xml version='1.0' encoding='utf-8'?>\n{text}\n".encode()


def _outcome(each: Judged) -> str | None:
    """The element in the test case; None where it passes."""
    match each.reply.verdict:
        case Verdict.FIRST:
            return None
        case Verdict.FAILED:
            return "error"
        case Verdict.UNJUDGED:
            return "skipped"
        case _:
            return "failure"
