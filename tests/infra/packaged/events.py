"""What AWS hands to a function, made from the events of tests/events, and a file for one of them to read."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from typing import Any

from tests.support.packaged import EVENTS


def http_event(kind: str, method: str, path: str, body: object = None, *, packed: bool = False) -> dict[str, Any]:
    """An event of tests/events as a call of this route; an HTTP API hands the path over decoded."""
    event: dict[str, Any] = json.loads((EVENTS / f"{kind}.json").read_text(encoding="utf-8"))
    del event["headers"]["accept-encoding"]
    text = None if body is None else json.dumps(body)
    event |= {"rawPath": path, "rawQueryString": "", "isBase64Encoded": packed}
    event["body"] = base64.b64encode(text.encode()).decode() if packed and text else text
    event["requestContext"]["http"] |= {"method": method, "path": path}
    return event


def batch(queue: str, bodies: list[dict[str, Any]]) -> bytes:
    """A batch of messages as an event source mapping hands it over."""
    record: dict[str, Any] = json.loads((EVENTS / "sqs.json").read_text(encoding="utf-8"))["Records"][0]
    arn = record["eventSourceARN"].rpartition(":")[0]
    records = [
        record | {"messageId": f"message-{place}", "body": json.dumps(body), "eventSourceARN": f"{arn}:{queue}"}
        for place, body in enumerate(bodies)
    ]
    return json.dumps({"Records": records}).encode()


def docx(text: str) -> bytes:
    """A document with one paragraph."""
    kinds = "http://schemas.openxmlformats.org"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{kinds}/package/2006/content-types">'
        '<Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{kinds}/package/2006/relationships"><Relationship Id="r1" '
        f'Type="{kinds}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{kinds}/wordprocessingml/2006/main"><w:body><w:p><w:r>'
        f"<w:t>{text}</w:t></w:r></w:p></w:body></w:document>",
    }
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as packed:
        for name, content in parts.items():
            packed.writestr(name, content)
    return body.getvalue()
