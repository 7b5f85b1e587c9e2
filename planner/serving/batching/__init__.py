"""Step-by-step simulators of static and continuous batching."""
