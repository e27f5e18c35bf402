"""Collections that are too large for one machine, read and scored by a Spark cluster's workers."""

from touche.cluster.inputs import find as find
from touche.cluster.inputs import opened as opened
from touche.cluster.session import started as started
from touche.cluster.shipping import folder_sent as folder_sent
