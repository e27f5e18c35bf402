"""Collections that are too large for one machine, read and scored by a Spark cluster's workers."""

from touche.lab.spark.inputs import find as find
from touche.lab.spark.inputs import opened as opened
from touche.lab.spark.session import started as started
from touche.lab.spark.shipping import folder_sent as folder_sent
