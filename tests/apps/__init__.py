"""What serves other applications, started and asked as they do."""
