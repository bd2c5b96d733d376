"""Asks the model for the facts of one chunk.

Called by extract_all, from several threads at once; calls the TextModel port.
An identical request is never sent twice: an unreadable reply is asked for again with what was wrong, a cut one in
parts, and what not even a small part gives is kept as it stands.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hindsight_aws.errors import ModelInputTooLong, ModelRefused, ModelReplyMalformed, ModelReplyTruncated
from hindsight_aws.ports.model_gateway import TextModel, UsageSink
from hindsight_aws.retain.chunking.chunk import chunk_text
from hindsight_aws.retain.extraction.found import Extraction, as_it_stands, as_one
from hindsight_aws.retain.extraction.passages import Passage, end_of, start_of
from hindsight_aws.retain.extraction.record_facts import Reading, read_facts
from hindsight_aws.retain.extraction.request import Extractor, call_for
from hindsight_aws.usage.metered import counting_refusals

SMALLEST_SPLIT: Final = 200
"""A text shorter than twice this is not split further: its reply is cut because the model does not find an end."""
_MOST_LOST: Final = 0.2


def extract(model: TextModel, extractor: Extractor, passage: Passage, usage: UsageSink) -> Extraction:
    """The passage's facts, in its order; splits it as often as the model's limits ask for, and drops nothing.

    A part whose reply is cut however small it gets is its own fact, and a problem says so.

    Raises: ModelReplyMalformed when no reply can be read, neither for the passage nor for its parts;
    ModelInputTooLong when the smallest part does not fit; ModelThrottled, ModelUnavailable, ModelRefused, ModelDenied
    as the port does.
    """
    found = _whole(model, extractor, passage, usage, is_part=False)
    return as_one(found, passage.text) if extractor.mode == "verbatim" else found


def _whole(model: TextModel, extractor: Extractor, passage: Passage, usage: UsageSink, *, is_part: bool) -> Extraction:
    """The facts of the passage or, where the reply to it does not come whole, of its parts one after the other."""
    try:
        return _asked(model, extractor, passage, usage)
    except ModelReplyTruncated as cut:
        parts = _parts(passage)
        if not parts:
            told = f"{len(passage.text)} characters are kept as they stand: {cut}"
            return as_it_stands(passage.text, told)
    except ModelInputTooLong:
        parts = _parts(passage)
        if not parts:
            raise
    except ModelReplyMalformed:
        parts = _parts(passage) if extractor.re_asks and not is_part else []
        if not parts:
            raise
    first, *others = [_whole(model, extractor, part, usage, is_part=True) for part in parts]
    for later in others:
        first = first.followed_by(later)
    return first


def _asked(model: TextModel, extractor: Extractor, passage: Passage, usage: UsageSink) -> Extraction:
    """One request, and up to `re_asks` more while the reply loses too much and says something else each time.

    A later reply stands unless it gives fewer facts than an earlier one, or cannot be read.
    """
    verbatim = passage.text if extractor.mode == "verbatim" else None
    reading = Reading(passage.happened, extractor.vocabulary, verbatim, extractor.asks_causes)
    best: Extraction | None = None
    wrong = ModelReplyMalformed("no reply was asked for")
    problem: str | None = None
    for _ in range(extractor.re_asks + 1):
        try:
            call = call_for(extractor, passage, problem)
            said = model.ask(call, usage).tool_input
            with counting_refusals(call):
                found = read_facts(said, reading)
        except ModelReplyMalformed as malformed:
            wrong, now = malformed, str(malformed)
        except (ModelReplyTruncated, ModelRefused, ModelInputTooLong):
            if best is None:
                raise
            return best
        else:
            best = found if best is None or len(found.facts) >= len(best.facts) else best
            now = "; ".join(found.problems)
            if len(found.problems) <= _MOST_LOST * (len(found.facts) + len(found.problems)):
                return best
        if now == problem:
            break
        problem = now
    if best is None:
        raise wrong
    return best


def _parts(passage: Passage) -> list[Passage]:
    """The passage in two or three, cut where chunks are cut; none when it is too short to cut."""
    if len(passage.text) < 2 * SMALLEST_SPLIT:
        return []
    texts = chunk_text(passage.text, len(passage.text) // 2 + len(passage.text) // 10)
    if len(texts) < 2:
        return []
    befores = [passage.before, *(end_of(text) for text in texts[:-1])]
    afters = [*(start_of(text) for text in texts[1:]), passage.after]
    return [
        replace(passage, text=text, before=before, after=after)
        for text, before, after in zip(texts, befores, afters, strict=True)
    ]
