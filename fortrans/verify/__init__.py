"""Does the rewritten program still do what the original did?  Build both, run both, compare."""
