"""What made a run: the model, the analysis, the fields and the numbers that its scores give away."""
