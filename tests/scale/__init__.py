"""What runs on a Ray cluster, on clusters of several nodes on this machine."""
