"""Untrusted files in, whole files out, identifiers, temporary folders."""
