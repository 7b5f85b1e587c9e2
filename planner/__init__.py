"""llm-capacity: declared LLM workloads in, gated and priced capacity out."""
