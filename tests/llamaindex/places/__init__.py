"""Every place in a LlamaIndex application where order can be kept or lost."""
