"""Collections that are too large for one machine, read and scored by a Spark cluster's workers."""
