"""The same system twice, from one table: `topology` describes it, `cloud/` deploys it, `local/` runs it on one machine."""
