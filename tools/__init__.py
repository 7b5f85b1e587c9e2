"""Set-up, pinned toolchain, Python language host and preview-only provider."""
