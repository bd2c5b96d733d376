"""The admin door: HTTP events to the app with the admin routes.  Calls api/ with the parts that runtime.py builds."""

from hindsight_aws.api.app import create_app
from hindsight_aws.api.gateway import lambda_handler
from hindsight_aws.api.snapshot import before_snapshot
from hindsight_aws.runtime import Runtime

_runtime = Runtime.from_environment()
before_snapshot(_runtime.import_for_first_events)

handler = lambda_handler(create_app({"admin"}, _runtime), is_local=_runtime.settings.hindsight_environment == "local")
