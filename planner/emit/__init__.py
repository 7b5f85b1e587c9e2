"""Resources from a plan: the only package of the planner that imports pulumi."""
