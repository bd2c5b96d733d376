"""Links: which facts are joined by time and meaning, and how what was joined to facts that went is joined anew.

Retain links what it writes (rule.py); jobs/links calls maintain.py for each wake-up.
"""
