"""What is shipped, proved on this machine: archives unpacked elsewhere, run by Lambda's own runtime on real events."""
