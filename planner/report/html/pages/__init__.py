"""The pages of the report, each a module of its own with one function ``page``."""
