-- While migrations run the owner may hand a function to hindsight_router; taken back by return_router.sql.
GRANT CREATE ON SCHEMA hindsight TO hindsight_router;
GRANT hindsight_router TO hindsight_owner WITH INHERIT FALSE, SET TRUE;
