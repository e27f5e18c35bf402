"""Collections larger than one machine, read and scored by the workers of a Spark cluster."""

from touche.cluster.inputs import find as find
from touche.cluster.inputs import opened as opened
from touche.cluster.session import started as started
from touche.cluster.shipping import folder_sent as folder_sent
