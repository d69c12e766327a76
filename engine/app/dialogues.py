"""The next request of a dialogue: what an answer to a question back, or a rejection, makes of the stored one.

Owns which statements survive it, and what a follow-up goes on from. Runs nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from engine.app.question_store import Questions
from engine.ask.question_back import agreeing, resolve
from engine.question.question import Question
from engine.values import wording
from engine.values.candidate import Candidate
from engine.values.dialogue import Dialogue, FollowUp, Stored, Turn
from engine.values.errors import AbstainedError, NeedsAnswerError, UnknownQuestionError
from engine.values.messages import AnswerRequest, AskReply, AskRequest, MoreRequest, NoneRequest, RowKind

Continued = tuple[AskRequest, Dialogue]
"""A question that is asked again, and what has been said about it."""


async def in_dialogue(request: AskRequest, questions: Questions, *, by_model: bool = False) -> Continued:
    """A follow-up with what it goes on from, in the same database; any other question by itself.

    So is a text that was just asked, and one behind an answer without a statement or for another database than `db`.
    A question by itself may still be about the database of the last answer, which goes along.

    `by_model`: whether a question goes on is the model's to say, which may answer it for another database as well.
    """
    alone = replace(request, after=None)
    if request.after is None:
        return alone, Dialogue()
    try:
        stored = await questions.stored(request.after, request.asker.owner)
    except UnknownQuestionError:
        return alone, Dialogue()
    # Who goes on past a question back takes what is likeliest.
    survivors = (stored.dialogue.survivors or ()) if stored.dialogue.pending is not None else ()
    row = await questions.taken(stored) or next(iter(survivors), None)
    last = stored.dialogue.database if row is None else row.database
    repeated = request.question.casefold() == stored.request.question.casefold()
    asked = Question(request.question)
    alike = (
        not repeated and request.db in {None, last} and (asked.maybe_goes_on if by_model else asked.goes_on)
    )
    if not alike or row is None or row.sql is None:
        return alone, Dialogue(database=last)
    known = (each.meaning.says for each in stored.dialogue.survivors or () if each.sql == row.sql)
    earlier = () if stored.dialogue.follow_up is None else stored.dialogue.follow_up.turns
    before = FollowUp(stored.question.text, row.sql, request.question, next(known, ""), earlier)
    return replace(alone, db=request.db if by_model else last), Dialogue(
        follow_up=before, database=last, local=stored.dialogue.local
    )


def after_answer(stored: Stored, request: AnswerRequest) -> Continued:
    """The question with the answer to what it was asked back. Raises as `resolve`."""
    dialogue = stored.dialogue
    given = request.n if request.n is not None else request.text or ""
    turn = resolve(dialogue, given, stored.question)
    left = agreeing(dialogue.survivors or (), turn)
    continued = replace(dialogue, turns=(*dialogue.turns, turn), survivors=left or None, pending=None)
    return _again(stored, request), continued


def after_rejection(stored: Stored, request: NoneRequest) -> Continued:
    """The question with everything rejected that its answer shows, or with none of the options meant."""
    dialogue, shown = stored.dialogue, _shown(stored.reply)
    continued = replace(
        dialogue,
        rejected=tuple(dict.fromkeys((*dialogue.rejected, *shown))),
        survivors=_without(dialogue.survivors or (), shown),
        pending=None,
    )
    if dialogue.pending is not None:
        turn = Turn(dialogue.pending, text=request.why)
        offered = [sql for option in dialogue.pending.options for sql in option.statements]
        continued = replace(
            continued,
            turns=(*dialogue.turns, turn),
            survivors=_without(continued.survivors or (), offered),
        )
    elif request.why:
        continued = replace(continued, remarks=(*dialogue.remarks, request.why))
    ask = _again(stored, request)
    return replace(ask, exclude=tuple(dict.fromkeys((*ask.exclude, *shown)))), continued


def after_more(stored: Stored, request: MoreRequest) -> Continued:
    """The question without the statements that its answer and those before it showed."""
    ask = _again(stored, request)
    return replace(ask, exclude=ask.exclude + _shown(stored.reply)), replace(
        stored.dialogue, survivors=None, pending=None
    )


def check_has_statements(reply: AskReply) -> None:
    """Raises `NeedsAnswerError` where the answer is a question back, `AbstainedError` where there is none."""
    if reply.rows and reply.rows[0].kind is RowKind.OPTION:
        raise NeedsAnswerError.told(wording.WAITS, qid=reply.qid)
    if all(row.kind is RowKind.ABSTAIN for row in reply.rows):
        why = " ".join(row.explanation for row in reply.rows)
        raise AbstainedError.told(wording.HAS_NO_ANSWER, qid=reply.qid, why=why)


def _again(stored: Stored, request: AnswerRequest | NoneRequest | MoreRequest) -> AskRequest:
    return replace(stored.request, asker=request.asker, timeout=request.timeout, run=False)


def _shown(reply: AskReply) -> tuple[str, ...]:
    return tuple(row.sql for row in reply.rows if row.sql is not None)


def _without(candidates: tuple[Candidate, ...], left_out: Collection[str]) -> tuple[Candidate, ...]:
    return tuple(each for each in candidates if each.sql not in left_out)
