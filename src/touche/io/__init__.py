"""Input of untrusted files, output of whole files, identifiers, temporary folders."""
