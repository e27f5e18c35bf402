"""Reports: runs among the published results of their task, on one self-contained page."""
