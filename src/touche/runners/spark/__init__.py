"""Collections that are too large for one machine, read and scored by a Spark cluster's workers."""

from touche.runners.spark.inputs import find as find
from touche.runners.spark.inputs import opened as opened
from touche.runners.spark.session import started as started
from touche.runners.spark.shipping import folder_sent as folder_sent
