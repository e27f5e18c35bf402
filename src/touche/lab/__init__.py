"""What few users need: identification of a run's settings, sweeps, Spark, and verification of images.

Only ``touche.cli`` imports it, so nobody has to read it to understand a run, a score or a regression.
"""
