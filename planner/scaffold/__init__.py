"""A first project: answers in, commented files out."""
