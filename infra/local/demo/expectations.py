"""What the demo claims it also checks: a claim that does not hold ends it with a sentence."""


class ClaimBroken(Exception):
    """Something the demo was about to show is not so; the message says what."""


def expect(holds: object, sentence: str) -> None:
    """Goes on when it holds. Raises: ClaimBroken with the sentence."""
    if not holds:
        raise ClaimBroken(sentence)
