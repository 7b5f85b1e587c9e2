"""The OPA gate: input document, engine, verdicts, waivers and records."""
