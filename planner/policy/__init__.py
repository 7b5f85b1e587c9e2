"""The OPA gate: input document, engine, verdicts, waivers and records."""

from planner.policy.document import options_document, plan_document
from planner.policy.engine import PolicyEngine, PolicyFacts
from planner.policy.gate import gate_options, gate_plan
from planner.policy.record import append_record, policy_record
from planner.policy.verdicts import Finding, OptionVerdict, Verdict
from planner.policy.waivers import WaiverBook, load_waivers

__all__ = [
    "Finding",
    "OptionVerdict",
    "PolicyEngine",
    "PolicyFacts",
    "Verdict",
    "WaiverBook",
    "append_record",
    "gate_options",
    "gate_plan",
    "load_waivers",
    "options_document",
    "plan_document",
    "policy_record",
]
