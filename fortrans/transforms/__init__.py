"""Answers: a site becomes a plan, or a Refusal.  Never makes text."""
