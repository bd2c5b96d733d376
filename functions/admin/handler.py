"""The admin door: HTTP events to the app with the admin routes.  Calls api/ with the parts that runtime.py builds."""

from hindsight_aws.api.app import create_app
from hindsight_aws.api.gateway import lambda_handler
from hindsight_aws.api.snapshot import around_snapshots
from hindsight_aws.runtime import Runtime

_runtime = Runtime.from_environment()
around_snapshots(_runtime)

_answer = lambda_handler(create_app({"admin"}, _runtime), is_local=_runtime.settings.hindsight_environment == "local")
handler = _runtime.watched("admin")(_answer)
