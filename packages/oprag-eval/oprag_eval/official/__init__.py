"""The authors' rules that differ from this project's, losses included."""
