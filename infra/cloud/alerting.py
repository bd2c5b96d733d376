"""The alarms of the table in CloudFormation, and whom they tell. Made by the service stack."""

from collections.abc import Sequence

from aws_cdk import Annotations, Aws
from aws_cdk import aws_cloudwatch as watch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.cloud.acknowledged import ALARM_MAIL, acknowledge
from infra.cloud.alarm import Alarm, Measure, Sense, Share
from infra.cloud.config import CloudConfig, Profile

_PUBLISHERS = ("cloudwatch.amazonaws.com",)


class Alerting(Construct):
    """One alarm for each of `alarms`, with the actions of the configuration; all their ARNs in `arns`."""

    def __init__(
        self, scope: Construct, name: str, *, config: CloudConfig, alarms: Sequence[Alarm], key: kms.IKey
    ) -> None:
        super().__init__(scope, name)
        self._actions = [arn for arn in (self._topic(config, key), config.alarm_topic_arn) if arn is not None]
        if config.profile is Profile.PROD and not self._actions:
            Annotations.of(self).add_warning_v2(
                "hindsight-aws:nobody-is-told", "Alarms tell nobody: name alarmEmail or alarmTopicArn"
            )
        self.arns = [self._make(alarm).attr_arn for alarm in alarms]

    def _topic(self, config: CloudConfig, key: kms.IKey) -> str | None:
        if config.alarm_email is None:
            return None
        topic = sns.Topic(self, "Topic", master_key=key, enforce_ssl=True)
        mail = sns.CfnSubscription(
            self, "Email", topic_arn=topic.topic_arn, protocol="email", endpoint=config.alarm_email
        )
        acknowledge(mail, ALARM_MAIL)
        for publisher in _PUBLISHERS:
            topic.add_to_resource_policy(
                iam.PolicyStatement(
                    actions=["sns:Publish"],
                    principals=[iam.ServicePrincipal(publisher)],
                    resources=[topic.topic_arn],
                    conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
                )
            )
        return str(topic.topic_arn)

    def _make(self, alarm: Alarm) -> watch.CfnAlarm:
        made = watch.CfnAlarm(
            self,
            alarm.name,
            alarm_description=alarm.description,
            comparison_operator=alarm.sense.value,
            evaluation_periods=alarm.periods,
            treat_missing_data=alarm.missing.value,
            actions_enabled=bool(self._actions),
            alarm_actions=self._actions or None,
            ok_actions=self._actions or None,
        )
        match alarm.watched:
            case Share() as share:
                made.threshold = alarm.threshold
                made.metrics = _share(share, alarm.minutes)
            case Measure() as measure if alarm.sense is Sense.ABOVE_USUAL:
                made.threshold_metric_id = "usual"
                made.metrics = _band(measure, alarm.threshold, alarm.minutes)
            case Measure() as measure:
                made.threshold = alarm.threshold
                _watch(made, measure, alarm.minutes)
        return made


def let_alarms_use(key: kms.Key) -> None:
    """Lets CloudWatch publish to a topic that is encrypted with the key."""
    for publisher in _PUBLISHERS:
        key.add_to_resource_policy(
            iam.PolicyStatement(
                actions=["kms:Decrypt", "kms:GenerateDataKey"],
                principals=[iam.ServicePrincipal(publisher)],
                resources=["*"],
                conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
            )
        )


def _watch(made: watch.CfnAlarm, measure: Measure, minutes: int) -> None:
    made.namespace, made.metric_name, made.period = measure.namespace, measure.name, minutes * 60
    made.dimensions = [watch.CfnAlarm.DimensionProperty(name=name, value=value) for name, value in measure.dimensions]
    if measure.statistic.startswith("p"):
        made.extended_statistic = measure.statistic
        # A percentile of a handful of calls says nothing.
        made.evaluate_low_sample_count_percentile = "ignore"
    else:
        made.statistic = measure.statistic


def _share(share: Share, minutes: int) -> list[watch.CfnAlarm.MetricDataQueryProperty]:
    return [
        watch.CfnAlarm.MetricDataQueryProperty(
            id="share", expression=f"IF(whole >= {share.least}, part / whole, 0)", label="share", return_data=True
        ),
        _query("part", share.part, minutes, is_shown=False),
        _query("whole", share.whole, minutes, is_shown=False),
    ]


def _band(measure: Measure, width: float, minutes: int) -> list[watch.CfnAlarm.MetricDataQueryProperty]:
    return [
        watch.CfnAlarm.MetricDataQueryProperty(
            id="usual", expression=f"ANOMALY_DETECTION_BAND(measured, {width:g})", label="usual", return_data=True
        ),
        _query("measured", measure, minutes, is_shown=True),
    ]


def _query(name: str, measure: Measure, minutes: int, *, is_shown: bool) -> watch.CfnAlarm.MetricDataQueryProperty:
    metric = watch.CfnAlarm.MetricProperty(
        namespace=measure.namespace,
        metric_name=measure.name,
        dimensions=[watch.CfnAlarm.DimensionProperty(name=each, value=value) for each, value in measure.dimensions],
    )
    return watch.CfnAlarm.MetricDataQueryProperty(
        id=name,
        metric_stat=watch.CfnAlarm.MetricStatProperty(metric=metric, period=minutes * 60, stat=measure.statistic),
        return_data=is_shown,
    )
