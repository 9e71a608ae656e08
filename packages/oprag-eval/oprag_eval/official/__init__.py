"""What the authors' code does where it differs from this project, losses included."""
