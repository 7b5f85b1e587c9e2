"""Self-hosted serving: model shape, memory, parallelism, latency and batching."""
