"""The loopback S3 endpoint: one object at a time, path-style addresses, signatures checked. Calls the object folder."""

import asyncio
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qsl, unquote

from infra.local.http import Endpoint, HttpRequest, HttpResponse
from infra.local.s3.errors import S3Error, not_implemented
from infra.local.s3.objects import ObjectFolder
from infra.local.s3.signature import check_signature

_MAX_BODY: Final = 256 * 1024 * 1024
_LONGEST_KEY: Final = 1024
_XML: Final = ("content-type", "application/xml")
_UNTYPED: Final = "binary/octet-stream"
# What a client may say besides what this endpoint acts on, and get what S3 would give it all the same.
_HARMLESS: Final = frozenset({"x-id"})
_DISPOSITION: Final = "response-content-disposition"
_UNHEARD: Final = ("x-amz-copy-source", "range", "if-match", "if-none-match", "x-amz-tagging", "x-amz-acl")
_UNHEARD_PREFIXES: Final = ("x-amz-server-side-encryption", "x-amz-object-lock", "x-amz-meta-", "x-amz-checksum-")


class S3Endpoint(Endpoint):
    """Serves one folder of objects."""

    def __init__(self, objects: ObjectFolder) -> None:
        self._objects = objects
        super().__init__(self._answer, max_body=_MAX_BODY)

    async def _answer(self, request: HttpRequest) -> HttpResponse:
        try:
            if request.too_large:
                raise S3Error(
                    HTTPStatus.BAD_REQUEST, "EntityTooLarge", "The object is larger than this endpoint takes."
                )
            check_signature(request)
            return await self._act(request)
        except S3Error as error:
            body = b"" if request.method == "HEAD" else error.body(request.path)
            return HttpResponse(error.status, body, (_XML,))

    async def _act(self, request: HttpRequest) -> HttpResponse:
        bucket, _, quoted = request.path.removeprefix("/").partition("/")
        key = unquote(quoted)
        if not key:
            raise not_implemented("anything but single objects")
        _refuse_unheard(request)
        if not self._objects.has_bucket(bucket):
            raise S3Error(HTTPStatus.NOT_FOUND, "NoSuchBucket", "The specified bucket does not exist")
        if len(key.encode()) > _LONGEST_KEY:
            raise S3Error(HTTPStatus.BAD_REQUEST, "KeyTooLongError", "Your key is too long")
        match request.method:
            case "PUT":
                content_type = request.header("content-type") or _UNTYPED
                etag = await asyncio.to_thread(self._objects.put, bucket, key, request.body, content_type)
                return HttpResponse(HTTPStatus.OK, b"", (("etag", etag),))
            case "GET" | "HEAD":
                return await self._read(bucket, key, dict(parse_qsl(request.query)).get(_DISPOSITION))
            case "DELETE":
                await asyncio.to_thread(self._objects.delete, bucket, key)
                return HttpResponse(HTTPStatus.NO_CONTENT, b"", ())
            case method:
                raise not_implemented(f"{method} of an object")

    async def _read(self, bucket: str, key: str, disposition: str | None) -> HttpResponse:
        found = await asyncio.to_thread(self._objects.get, bucket, key)
        if found is None:
            raise S3Error(HTTPStatus.NOT_FOUND, "NoSuchKey", "The specified key does not exist.")
        named = () if disposition is None else (("content-disposition", disposition),)
        headers = (
            ("content-type", found.content_type),
            ("etag", found.etag),
            ("last-modified", found.modified),
            *named,
        )
        return HttpResponse(HTTPStatus.OK, found.body, headers)


def _refuse_unheard(request: HttpRequest) -> None:
    """What would change the outcome is not passed over in silence."""
    for name, _ in parse_qsl(request.query, keep_blank_values=True):
        if name not in _HARMLESS | {_DISPOSITION} and not name.startswith("X-Amz-"):
            raise not_implemented(f"the parameter {name}")
    for name, _ in request.headers:
        if name in _UNHEARD or name.startswith(_UNHEARD_PREFIXES):
            raise not_implemented(f"the header {name}")
