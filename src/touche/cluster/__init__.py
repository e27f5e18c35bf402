"""Collections larger than one machine, read and scored by the workers of a Spark cluster."""

from touche.cluster.inputs import find, find_remote, saved
from touche.cluster.session import started
from touche.cluster.shipping import folder_sent

__all__ = ["find", "find_remote", "folder_sent", "saved", "started"]
