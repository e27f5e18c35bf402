"""Baselines: decorator, options, loading and running."""

from touche.baselines.baseline_options import as_arguments as as_arguments
from touche.baselines.extras import missing_extra as missing_extra
from touche.baselines.loader import baseline_folder as baseline_folder
from touche.baselines.loader import load as load
from touche.baselines.local_runs import Runs as Runs
from touche.baselines.method import Baseline as Baseline
from touche.baselines.method import Topics as Topics
from touche.baselines.method import baseline as baseline
from touche.baselines.rankings import Rankings as Rankings
