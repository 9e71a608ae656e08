"""The commands `evaluate`, `reproduce` and `sweep` of the script `oprag`."""
