"""The component provider: workloads declared from any language of Pulumi."""
