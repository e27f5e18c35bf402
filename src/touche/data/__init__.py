"""Official data: where it is and who publishes it."""
