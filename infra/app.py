"""The CDK entry, `python -m infra.app`: synthesises both stacks from the topology, checks them, and says what it made.

Run by the CDK command line (cdk.json) or alone, then with `-c name=value` like it. Needs no account, no Docker and no
Node.js of the machine's own; only building the dependency layer for the first time needs a package registry.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from infra.cloud.assets import BuiltAssets, StubAssets
from infra.cloud.config import Assets, read_config
from infra.cloud.errors import CloudError, ConfigError
from infra.cloud.node import use_bundled_node
from infra.topology import TOPOLOGY
from layers.errors import PackagingError

if TYPE_CHECKING:
    from aws_cdk.cx_api import CloudAssembly

_ROOT: Final = Path(__file__).resolve().parents[1]
_CONTEXT_OF_THE_CLI: Final = "CDK_CONTEXT_JSON"


def main(arguments: Sequence[str] | None = None) -> int:
    """Synthesises into `CDK_OUTDIR` (cdk.out by default) and reports on standard error; 1 and a sentence on failure."""
    started = time.monotonic()
    outdir = os.environ.get("CDK_OUTDIR", str(_ROOT / "cdk.out"))
    try:
        use_bundled_node()
        context = read_context(_parsed(arguments).context)
        if _CONTEXT_OF_THE_CLI not in os.environ:
            read_config(context)  # what is wrong is said before the CDK has taken its seconds to start
        assembly, assets = synthesise(context, outdir)
    except (CloudError, PackagingError) as wrong:
        sys.stderr.write(f"{wrong}\n")
        return 1
    except RuntimeError as refused:
        if "ValidationFailed" not in str(refused):
            raise
        sys.stderr.write("The stacks break a rule: see above, and infra/cloud/acknowledged.py for those that stand.\n")
        return 1
    _report(assembly, assets, time.monotonic() - started)
    return 0


def synthesise(context: dict[str, object], outdir: str) -> "tuple[CloudAssembly, BuiltAssets | StubAssets]":
    """Both stacks in `outdir`, every rule of cdk-nag kept; what the CDK's command line says goes before `context`.

    Raises: CloudError, PackagingError, and RuntimeError of the CDK when a rule is broken.
    """
    from aws_cdk import App, Validations
    from cdk_nag import AwsSolutionsChecks, ServerlessChecks

    from infra.cloud.stacks import add_stacks

    app = App(context=context, outdir=outdir)
    config = read_config(with_region(dict(app.node.get_all_context()), os.environ))
    assets = BuiltAssets(_ROOT) if config.assets is Assets.BUILT else StubAssets(Path(outdir) / "stub")
    add_stacks(app, config=config, topology=TOPOLOGY, assets=assets)
    Validations.of(app).add_plugins(AwsSolutionsChecks(app), ServerlessChecks(app))
    return app.synth(), assets


def with_region(context: dict[str, object], environment: Mapping[str, str]) -> dict[str, object]:
    """The context, in the region that the CDK's command line is about to deploy to, where it names none itself."""
    region = environment.get("CDK_DEFAULT_REGION")
    return {"region": region, **context} if region else context


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m infra.app", description="Synthesise the cloud stacks.")
    parser.add_argument("-c", "--context", action="append", default=[], metavar="NAME=VALUE", help="as in the CDK")
    return parser.parse_args(arguments)


def read_context(pairs: Sequence[str] = ()) -> dict[str, object]:
    """cdk.json's context, which the CDK command line would hand over, and what was given beside it as name=value.

    Raises: ConfigError.
    """
    context: dict[str, object] = dict(json.loads((_ROOT / "cdk.json").read_text(encoding="utf-8"))["context"])
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator:
            raise ConfigError(f"-c takes name=value, not {pair!r}")
        context[name] = value
    return context


def _report(assembly: "CloudAssembly", assets: BuiltAssets | StubAssets, seconds: float) -> None:
    lines = []
    total = 0
    for stack in assembly.stacks:
        count = len(stack.template["Resources"])
        total += count
        lines.append(f"{stack.stack_name}: {count} resources")
    if isinstance(assets, BuiltAssets):
        for name, archive in assets.built.items():
            lines.append(f"{name}: {archive.sizes()}")
    lines.append(f"{total} resources in {seconds:.1f} s")
    sys.stderr.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
