"""Official data: its locations and its publishers."""
