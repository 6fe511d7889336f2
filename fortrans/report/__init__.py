"""What the user reads: remarks, differences and explanations as text."""
