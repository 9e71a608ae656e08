"""Speed beside the frameworks' own, measured in one run: `make bench`."""
