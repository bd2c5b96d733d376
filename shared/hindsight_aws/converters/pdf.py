"""PDF as text, page by page.  Called by reading."""

from __future__ import annotations

from io import BytesIO

from pypdf import PasswordType, PdfReader
from pypdf.errors import PyPdfError

from hindsight_aws.converters.refusal import PROTECTED, Refusal


def read_pdf(body: bytes) -> str:
    """The text that stands in the file; pictures of text give none.  Raises: Refusal."""
    try:
        reader = PdfReader(BytesIO(body))
        # A file that only forbids printing or copying opens with an empty password, as it does for its readers.
        if reader.is_encrypted and reader.decrypt("") is PasswordType.NOT_DECRYPTED:
            raise Refusal(PROTECTED)
        pages = [page.extract_text() for page in reader.pages]
    except PyPdfError as damaged:
        raise Refusal(f"is damaged: it cannot be read as PDF ({type(damaged).__name__})") from damaged
    return "\n\n".join(text.strip() for text in pages if text.strip())
