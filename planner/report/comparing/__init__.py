"""A difference between two plans, told: text, JSON, Markdown, and a pull request's comment."""

from planner.report.comparing.comment import Commented, comment
from planner.report.comparing.failure import failure_comment
from planner.report.comparing.formats import FORMATS

__all__ = ["FORMATS", "Commented", "comment", "failure_comment"]
