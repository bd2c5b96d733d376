"""Words, sentences, numbers and names: all the language that the rules know.

Called by the rules and by `rerank`; calls nothing. Pure.
"""

from __future__ import annotations

import re
import unicodedata

_FUNCTION_WORDS = frozenset(
    """a about after all also an and any are as at be been before being but by can could did do does for from had has
    have having he her hers him his how i if in into is it its just me my no not of off on only or our ours out over own
    she should so some such than that the their theirs them then there these they this those to too under up us very was
    we were what when where which while who whom whose why will with would you your yours""".split()
)
_KEPT_FUNCTION_WORDS = frozenset({"no", "not", "never", "only", "off", "out"})
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_SUFFIXES = ("ingly", "edly", "ing", "ies", "ed", "es", "s")
_ABBREVIATION = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|approx|No|Inc|Ltd|Jr|Sr)|\b[A-Z])\.$")
_TIME_OF_DAY = re.compile(r"\b[ap]\.m\.$")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+(?=\S)|(?<=[。！？])|\n+")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")

_CONNECTORS = {"of", "de", "la", "van", "von", "der", "den", "du", "da", "di", "the", "&"}
_NOT_NAMES = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december today yesterday tomorrow hello hi hey yes yeah no ok okay thanks thank please
    sure wow oh great good nice well maybe perhaps actually however also then now here there let's lets i'm i've i'd
    i'll it's that's there's what's he's she's we're they're you're don't doesn't didn't can't won't last next every
    each many most some both another because since although though during until unless remember note dear sorry congrats
    congratulations both either neither once twice everyone everybody someone nobody nothing everything""".split()
)


def sentences(text: str) -> list[str]:
    """The sentences of a text, each an exact piece of it, without the marks of lists. Abbreviations do not end one."""
    found: list[str] = []
    begin = 0
    for match in _SENTENCE_END.finditer(text):
        so_far = text[begin : match.start()].rstrip("\"'”’)]")
        goes_on = _TIME_OF_DAY.search(so_far) and text[match.end() : match.end() + 1].islower()
        if "\n" not in match[0] and (_ABBREVIATION.search(so_far) or goes_on):
            continue
        found.append(text[begin : match.end()])
        begin = match.end()
    found.append(text[begin:])
    stripped = (_BULLET.sub("", sentence).strip() for sentence in found)
    return [sentence for sentence in stripped if any(char.isalnum() for char in sentence)]


def stem(word: str) -> str:
    """The word without a common English ending: enough to match `likes`, `liked` and `liking`, no more."""
    root = word
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3 and not word.endswith("ss"):
            root = word.removesuffix(suffix) + ("y" if suffix == "ies" else "")
            break
    if len(root) > 3:
        root = root.removesuffix("e")
    return root[:-1] if len(root) > 3 and root[-1] == root[-2] else root


def content_words(text: str) -> frozenset[str]:
    """The stemmed words that carry meaning, `not` and its kin too; pairs of characters for Chinese and Japanese."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = {word.removesuffix("'s").removesuffix("’s") for word in _WORD.findall(folded)}
    kept = {stem(word) for word in words if word not in _FUNCTION_WORDS or word in _KEPT_FUNCTION_WORDS}
    pairs = {run[i : i + 2] for run in _CJK.findall(folded) for i in range(max(1, len(run) - 1))}
    return frozenset(word for word in kept | pairs if not _CJK.fullmatch(word) or len(word) <= 2)


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of words that two sets have in common; 0 when either is empty."""
    shared = len(one & other)
    return shared / len(one | other) if shared else 0.0


def numbers(text: str) -> frozenset[str]:
    """The numbers in a text, as written."""
    return frozenset(_NUMBER.findall(text))


def names(text: str, speakers: frozenset[str] = frozenset(), *, spoken: bool = False) -> list[str]:
    """Proper names by their capitals, in order, each once: runs of capitalised words with a number that follows.

    A lone word that opens the sentence counts only when it is no common word, and never in speech, where anything opens
    a sentence; `speakers` are names whatever they open.
    """
    found: dict[str, None] = {}
    words = list(re.finditer(r"\S+", text))
    at = 0
    while at < len(words):
        end = _run_of_capitals(words, at)
        if end > at:
            name = _trimmed([word[0] for word in words[at:end]])
            if name and _is_name(name, speakers, opens=at == 0, spoken=spoken):
                found.setdefault(name)
        at = max(end, at + 1)
    return list(found)


def _run_of_capitals(words: list[re.Match[str]], begin: int) -> int:
    """Where a run of capitalised words that begins there ends; `begin` itself when none does."""
    end = begin
    while end < len(words):
        word = words[end][0]
        bare = word.strip("\"'“”‘’()[]{}<>,.;:!?…*_`")
        if _is_capitalised(bare) or (
            end > begin and (bare.lower() in _CONNECTORS and _next_is_capitalised(words, end))
        ):
            end += 1
        elif end > begin and bare.isdecimal() and bare == word.rstrip(".,;:!?"):
            return end + 1
        else:
            return end
        if _ends_a_name(word, bare):
            return end
    return end


def _ends_a_name(word: str, bare: str) -> bool:
    if bare.endswith(("'s", "’s")):
        return True
    return word.rstrip("\"'”’)]")[-1:] in {",", ".", ";", ":", "!", "?"} and not _ABBREVIATION.search(word)


def _next_is_capitalised(words: list[re.Match[str]], at: int) -> bool:
    return at + 1 < len(words) and _is_capitalised(words[at + 1][0].strip("\"'“”(),.;:!?"))


def _is_capitalised(bare: str) -> bool:
    return bool(bare) and bare[0].isupper() and (len(bare) > 1 or not bare.isascii())


def _trimmed(run: list[str]) -> str:
    bare = [word.strip("\"'“”‘’()[]{}<>,.;:!?…*_`") for word in run]
    while bare and (bare[0].casefold() in _FUNCTION_WORDS | _NOT_NAMES):
        bare.pop(0)
    while bare and (bare[-1].casefold() in _NOT_NAMES | _CONNECTORS):
        bare.pop()
    return " ".join(bare).removesuffix("'s").removesuffix("’s")


def _is_name(name: str, speakers: frozenset[str], *, opens: bool, spoken: bool) -> bool:
    if name in speakers:
        return True
    if re.split("['’]", name.casefold())[0] in _FUNCTION_WORDS:
        return False
    if " " in name or not opens:
        return True
    if spoken:
        return False
    return not name.casefold().endswith(("ing", "ly", "ed"))
