"""What is published: three distributions, their names, their release."""
