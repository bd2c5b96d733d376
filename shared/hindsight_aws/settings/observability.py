"""What a process tells about itself, and where that goes (docs/howto/observability.md).  Part of Settings."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings


class ObservabilitySettings(BaseSettings):
    """What a process tells about itself, and where that goes."""

    hindsight_metrics: Literal["emf", "off"] = Field(
        "emf", description="Metrics: `emf` writes them into the log in the form that CloudWatch reads, `off` nowhere."
    )
    hindsight_tracing: Literal["off", "xray", "otlp"] = Field(
        "off",
        description="Spans: `xray` sends them to the X-Ray daemon that Lambda runs, `otlp` to an OpenTelemetry "
        "collector, `off` makes none.",
    )
    aws_xray_daemon_address: str = Field(
        "127.0.0.1:2000", pattern=r"^[^\s:]+:\d{1,5}$", description="The X-Ray daemon, as host:port; Lambda sets it."
    )
    hindsight_otlp_endpoint: str = Field(
        "http://localhost:4318",
        pattern=r"^https?://\S+$",
        description="Base address of the OpenTelemetry collector; spans go to `/v1/traces` below it.",
    )
