"""The same system twice, from one table: `topology` tells it, `cloud/` deploys it, `local/` runs it on one machine."""
