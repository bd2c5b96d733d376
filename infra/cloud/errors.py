"""What can be wrong with a deployment before it is made. infra/app.py shows the message and ends."""


class CloudError(ValueError):
    """The stacks cannot be made; the message says what to change."""


class ConfigError(CloudError):
    """The deployment's configuration is wrong; the message has one sentence per value."""


class ScheduleError(CloudError):
    """The table asks for a tick that EventBridge Scheduler does not offer."""


class WorkflowDefinitionError(CloudError):
    """A workflow and the table disagree; the message names both."""
