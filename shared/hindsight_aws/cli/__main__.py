"""`python -m hindsight_aws.cli`."""

from hindsight_aws.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
