"""A plan, told to people and machines."""
