"""What tests may do to a queue's messages: lose, double, delay, shuffle. Read by the queue as they pass."""

import random
from dataclasses import dataclass, field


@dataclass(slots=True)
class Mischief:
    """Counters used up by the messages that pass; all zero means an honest queue.

    SQS promises neither order nor single delivery, so all of it is something a standard queue may do, except `lose`,
    which stands for a sender that died between commit and send. A delayed message waits `delay_seconds`.
    """

    lose: int = 0
    double: int = 0
    delay: int = 0
    delay_seconds: float = 1.0
    shuffle: random.Random | None = None
    lost: int = field(default=0, init=False)

    def copies(self) -> int:
        """How many copies of the message being sent arrive: 0, 1 or 2."""
        if self.lose > 0:
            self.lose -= 1
            self.lost += 1
            return 0
        if self.double > 0:
            self.double -= 1
            return 2
        return 1

    def extra_delay(self) -> float:
        """Seconds the message being sent is held back."""
        if self.delay > 0:
            self.delay -= 1
            return self.delay_seconds
        return 0.0

    def reset(self) -> None:
        """Makes the queue honest again."""
        self.lose = self.double = self.delay = 0
        self.shuffle = None
