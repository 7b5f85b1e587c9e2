"""Any number of a plan: its formula, the numbers in it, and where they come from."""
