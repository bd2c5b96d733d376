-- Ends what lend_router.sql began: nobody can act as hindsight_router, and it can create nothing.
REVOKE hindsight_router FROM hindsight_owner;
REVOKE CREATE ON SCHEMA hindsight FROM hindsight_router;
