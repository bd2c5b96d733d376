"""The table's schedules, by EventBridge Scheduler. Made by the service stack; a tick comes at least once."""

from collections.abc import Mapping

from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.cloud.config import CloudConfig
from infra.cloud.functions import Deployed
from infra.cloud.naming import logical, rate
from infra.cloud.permissions import service_of_this_account
from infra.topology import ScheduleTrigger, Topology


class Schedules(Construct):
    """One schedule per trigger, with a role that may invoke that one alias; what cannot be delivered is kept."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        topology: Topology,
        config: CloudConfig,
        deployed: Mapping[str, Deployed],
        undelivered: sqs.Queue,
    ) -> None:
        super().__init__(scope, name)
        for entry, trigger in topology.each(ScheduleTrigger):
            self._schedule(trigger, deployed[entry.name], config, undelivered)

    def _schedule(
        self, trigger: ScheduleTrigger, target: Deployed, config: CloudConfig, undelivered: sqs.Queue
    ) -> None:
        place = Construct(self, logical(trigger.name))
        alias = target.alias.function_arn
        role = iam.Role(place, "Role", assumed_by=service_of_this_account("scheduler.amazonaws.com"))
        role.add_to_policy(iam.PolicyStatement(actions=["lambda:InvokeFunction"], resources=[alias]))
        role.add_to_policy(iam.PolicyStatement(actions=["sqs:SendMessage"], resources=[undelivered.queue_arn]))
        seconds = trigger.every * config.schedule_stretch
        scheduler.CfnSchedule(
            place,
            "Schedule",
            schedule_expression=rate(seconds),
            flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
            target=scheduler.CfnSchedule.TargetProperty(
                arn=alias,
                role_arn=role.role_arn,
                dead_letter_config=scheduler.CfnSchedule.DeadLetterConfigProperty(arn=undelivered.queue_arn),
                # A tick that is late by one interval has been overtaken by the next.
                retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(
                    maximum_event_age_in_seconds=seconds, maximum_retry_attempts=2
                ),
            ),
        )
