"""How much a caller may send at once.

Past it the answer is 413 or 422 and names the field.  Listed in docs/settings.md.
"""

from __future__ import annotations

from typing import Final

MOST_ITEMS: Final = 1_000
MOST_STRATEGIES: Final = 20
LONGEST_CONTENT_BYTES: Final = 5_000_000
LONGEST_CONTEXT_BYTES: Final = 16_384
LONGEST_DOCUMENT_ID_BYTES: Final = 512
MOST_SCOPES: Final = 31
LONGEST_ENTITY_CHARS: Final = 512
LONGEST_ENTITY_TYPE_CHARS: Final = 64
MOST_ENTITIES: Final = 200
MOST_METADATA_KEYS: Final = 100
LONGEST_METADATA_BYTES: Final = 16_384
