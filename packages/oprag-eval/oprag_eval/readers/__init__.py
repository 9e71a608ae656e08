"""Readers, which reply to the systems' calls: a chat model, or the offline reader."""
