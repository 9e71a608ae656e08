"""The papers' systems, one file each, on one interface (`system.System`)."""
