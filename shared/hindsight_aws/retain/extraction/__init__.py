"""From chunks to facts: asks the model, reads what it recorded, dates and words it.  Called by the job."""
