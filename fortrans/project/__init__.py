"""Many files: finding, reading and writing them."""
