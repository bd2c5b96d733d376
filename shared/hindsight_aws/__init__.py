"""Agent memory as serverless functions: retain, recall and reflect over Postgres, SQS, Step Functions and Bedrock."""

__version__ = "0.1.0"
