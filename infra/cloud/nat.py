"""NAT instances: the cheap way out of the private network, for whoever finds the interface endpoints too dear.

Made by network.py. They forward HTTPS for the functions and accept nothing else; there is no way to log in to one.
"""

from collections.abc import Sequence
from typing import Final

from aws_cdk import Aws, Duration, Stack
from aws_cdk import aws_cloudwatch as watch
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from infra.cloud.acknowledged import NAT, acknowledge

_HTTPS: Final = 443
_SETUP: Final = (
    "dnf install -y nftables",
    "echo net.ipv4.ip_forward=1 > /etc/sysctl.d/90-nat.conf",
    "sysctl --load /etc/sysctl.d/90-nat.conf",
    "cat > /etc/sysconfig/nftables.conf <<'RULES'",
    "table ip nat {",
    "  chain postrouting {",
    "    type nat hook postrouting priority srcnat;",
    "    masquerade",
    "  }",
    "}",
    "RULES",
    "systemctl enable --now nftables",
)


class NatInstances(Construct):
    """One small instance in each of the `public` subnets; every `private` subnet has its way out through one of them.

    An instance holds nothing: the newest image takes its place with a deployment, and AWS brings a lost one back.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        vpc: ec2.IVpc,
        public: Sequence[ec2.ISubnet],
        private: Sequence[ec2.ISubnet],
        sources: ec2.SecurityGroup,
    ) -> None:
        super().__init__(scope, name)
        self._vpc = vpc
        self._group = ec2.SecurityGroup(
            self, "Group", vpc=vpc, description="NAT instances", allow_all_outbound=False, disable_inline_rules=True
        )
        self._group.connections.allow_from(sources, ec2.Port.tcp(_HTTPS), "functions to AWS services")
        self._group.connections.allow_to_any_ipv4(
            ec2.Port.tcp(_HTTPS), "to AWS services, and to packages when it starts"
        )
        self.instances = [self._instance(number, subnet) for number, subnet in enumerate(public)]
        for number, subnet in enumerate(private):
            ec2.CfnRoute(
                self,
                f"Route{number}",
                route_table_id=subnet.route_table.route_table_id,
                destination_cidr_block="0.0.0.0/0",
                instance_id=self.instances[number % len(self.instances)].instance_id,
            )
        acknowledge(self, NAT)

    def _instance(self, number: int, subnet: ec2.ISubnet) -> ec2.Instance:
        setup = ec2.UserData.for_linux()
        setup.add_commands(*_SETUP)
        encrypted = ec2.BlockDeviceVolume.ebs(8, encrypted=True, volume_type=ec2.EbsDeviceVolumeType.GP3)
        instance = ec2.Instance(
            self,
            f"Instance{number}",
            vpc=self._vpc,
            vpc_subnets=ec2.SubnetSelection(subnets=[subnet]),
            instance_type=ec2.InstanceType.of(ec2.InstanceClass.T4G, ec2.InstanceSize.NANO),
            machine_image=ec2.MachineImage.latest_amazon_linux2023(cpu_type=ec2.AmazonLinuxCpuType.ARM_64),
            security_group=self._group,
            source_dest_check=False,
            associate_public_ip_address=True,
            http_tokens=ec2.HttpTokens.REQUIRED,
            http_put_response_hop_limit=1,
            block_devices=[ec2.BlockDevice(device_name="/dev/xvda", volume=encrypted)],
            user_data=setup,
            user_data_causes_replacement=True,
        )
        self._recover(instance, f"Recover{number}")
        return instance

    def _recover(self, instance: ec2.Instance, name: str) -> None:
        """A failing host is left for another one by EC2 itself, which needs no topic and no person."""
        watch.CfnAlarm(
            self,
            name,
            alarm_description="A NAT instance's host fails. Runbook: docs/runbooks/nat-instance.md",
            namespace="AWS/EC2",
            metric_name="StatusCheckFailed_System",
            dimensions=[watch.CfnAlarm.DimensionProperty(name="InstanceId", value=instance.instance_id)],
            statistic="Maximum",
            period=int(Duration.minutes(1).to_seconds()),
            evaluation_periods=2,
            threshold=1,
            comparison_operator="GreaterThanOrEqualToThreshold",
            treat_missing_data="notBreaching",
            alarm_actions=[f"arn:{Aws.PARTITION}:automate:{Stack.of(self).region}:ec2:recover"],
        )
