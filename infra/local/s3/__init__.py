"""S3 on this machine: an endpoint that real clients and presigned addresses can use, with objects in a folder.

It knows PUT, GET, HEAD and DELETE of one object and checks signatures; whatever else a client asks is refused.
"""

from infra.local.s3.endpoint import S3Endpoint
from infra.local.s3.objects import ObjectFolder

__all__ = ["ObjectFolder", "S3Endpoint"]
