"""Tests on a Ray cluster, and on clusters of several nodes on this machine."""
