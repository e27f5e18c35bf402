"""The public functions, a module for each topic; the commands print what they return."""
