"""The user's loops, and those that fortrans emits: exported as OpenScop, and checked."""
