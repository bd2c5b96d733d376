"""What text is made of for the index and for budgets: terms and token counts.

Called from anywhere; calls nothing of ours.
"""
