"""AWS services behind the ports: Bedrock, SQS and what else the product calls over the network.

Joined to the use cases by `runtime` and `cli` alone; calls boto3, whose clients are made on first use.
"""
