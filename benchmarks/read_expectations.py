"""Reads all expected.toml as ``touche regress`` does, and prints nothing; start_speed.py times it.

python benchmarks/read_expectations.py
"""

from touche.regression.running import read_expectations

read_expectations(names=(), datasets=())
