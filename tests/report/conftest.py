"""The real OPA and the builders of questions, as the policy's own tests have them."""

from tests.policy.conftest import engine, groups, make, opa

__all__ = ["engine", "groups", "make", "opa"]
