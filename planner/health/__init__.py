"""What a machine has of what the planner needs, told without asking a network."""
