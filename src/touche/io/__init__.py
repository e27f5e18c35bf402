"""Opens untrusted files, writes whole files; identifiers, processes, temporary folders."""
