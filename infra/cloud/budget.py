"""A monthly budget. Made by the service stack when the configuration names a sum.

It is the whole account's: calls of Bedrock, the largest part, carry no tag by which it could be narrowed.
"""

from aws_cdk import aws_budgets as budgets
from constructs import Construct

from infra.cloud.config import CloudConfig

_TOLD_AT = (("ACTUAL", 80), ("FORECASTED", 100))


class Budget(Construct):
    """Tells the configured address when 80 % are spent, and when 100 % are forecast."""

    def __init__(self, scope: Construct, name: str, *, config: CloudConfig, amount: float) -> None:
        super().__init__(scope, name)
        told = budgets.CfnBudget.SubscriberProperty(subscription_type="EMAIL", address=str(config.budget_address))
        budgets.CfnBudget(
            self,
            "Monthly",
            budget=budgets.CfnBudget.BudgetDataProperty(
                budget_type="COST",
                time_unit="MONTHLY",
                budget_limit=budgets.CfnBudget.SpendProperty(amount=amount, unit="USD"),
            ),
            notifications_with_subscribers=[
                budgets.CfnBudget.NotificationWithSubscribersProperty(
                    notification=budgets.CfnBudget.NotificationProperty(
                        notification_type=kind,
                        comparison_operator="GREATER_THAN",
                        threshold=percent,
                        threshold_type="PERCENTAGE",
                    ),
                    subscribers=[told],
                )
                for kind, percent in _TOLD_AT
            ],
        )
