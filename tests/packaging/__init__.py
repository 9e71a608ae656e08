"""The releases: three distributions, their names, their release."""
