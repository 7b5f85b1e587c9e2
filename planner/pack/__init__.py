"""The second gate: what Pulumi is about to register is held against the plan."""
