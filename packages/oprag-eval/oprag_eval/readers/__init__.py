"""Who replies to the systems' calls: a chat model, or the offline reader."""
