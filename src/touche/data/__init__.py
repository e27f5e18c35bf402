"""Official data: where it is, and where it comes from."""
