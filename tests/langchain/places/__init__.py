"""Every place in a LangChain application where order can be kept or lost."""
