"""The authors' rules where they differ from this project's, losses included."""
