"""The topology on one machine: real processes, a real database, real HTTP and loopback stand-ins for AWS's services."""
