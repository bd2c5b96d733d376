"""Where a process runs and what it reaches: database, queues, bucket, workflow, log.  Part of Settings."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import Field
from pydantic_settings import BaseSettings


class ProcessSettings(BaseSettings):
    """Where a process runs and what it reaches: database, queues, bucket, workflow, log."""

    hindsight_environment: Literal["local", "cloud"] = Field(
        "cloud", description="Where this process runs: `local` or `cloud`."
    )
    hindsight_database_url: str = Field("", description="Connection string of this function's own database role.")
    hindsight_database_secret_arn: str = Field(
        "", description="Secret with the administrator's user and password; only the `migrate` function has it."
    )
    hindsight_database_connect_seconds: float = Field(
        20.0,
        gt=0,
        description="How long to retry a connection before answering 503; a paused database takes 15 to 30 s.",
    )
    hindsight_statement_timeout_ms: int = Field(
        25_000, gt=0, description="Longest time one SQL statement may take, in milliseconds (deleting a bank: 55 s)."
    )
    hindsight_dev_tenant: UUID | None = Field(
        None,
        description="Tenant of calls without a key.  Only on a local stack whose database is on this machine.",
    )
    hindsight_queue_ingest_url: str = Field(
        "", description="URL of the SQS queue whose messages wake retain operations."
    )
    hindsight_queue_consolidate_url: str = Field(
        "", description="URL of the SQS queue whose messages wake the consolidation of a scope."
    )
    hindsight_queue_convert_url: str = Field(
        "", description="URL of the SQS queue whose messages wake the conversion of uploaded files."
    )
    hindsight_queue_transfer_url: str = Field(
        "", description="URL of the SQS queue whose messages wake exports and imports of banks."
    )
    hindsight_queue_deliver_url: str = Field(
        "", description="URL of the SQS queue whose messages wake deliveries to webhooks, and bring back receipts."
    )
    hindsight_queue_send_url: str = Field(
        "", description="URL of the SQS queue of requests to webhooks, which `send` makes."
    )
    hindsight_bucket: str = Field(
        "", description="S3 bucket of uploaded files; without one the routes for files answer 404."
    )
    hindsight_marks_set_in: str = Field(
        "",
        description="S3 bucket in which this process marks that it may commit work; set where the database pauses.",
    )
    hindsight_marks_read_in: str = Field(
        "",
        description="S3 bucket of those marks, for the sweep, which leaves a paused database alone by them.",
    )
    aws_region: str = Field("us-east-1", description="Region of the queues and models; Lambda sets it.")
    hindsight_log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="Least level of log lines written."
    )
    hindsight_api_enable_bank_config_api: bool = Field(
        True, description="Whether PATCH and DELETE of a bank's config are served."
    )
    hindsight_api_default_bank_template: dict[str, object] | None = Field(
        None,
        description="A bank template (JSON) that new banks are made by; one that cannot be applied is logged, and the "
        "bank is made without (docs/howto/banks.md).",
    )
    hindsight_api_mcp_enabled: bool = Field(True, description="Whether MCP is served at /mcp.")
    hindsight_mcp_allowed_origins: tuple[str, ...] = Field(
        (),
        description="Origins (a JSON list) whose web pages may call MCP; on a laptop its own may as well.",
    )
    hindsight_api_gzip_min_size: int = Field(
        1024, ge=0, description="Answers of at least this many bytes are compressed on request."
    )
