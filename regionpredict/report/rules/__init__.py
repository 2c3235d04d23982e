"""Loads the rule pages: one Markdown file per rule, with a failing and a fixed example."""

from __future__ import annotations

from importlib import resources

from regionpredict.errors import UsageError


def rule_ids() -> tuple[str, ...]:
    """Returns the ids of all rules."""
    folder = resources.files("regionpredict.report.rules")
    return tuple(sorted(p.name[:-3] for p in folder.iterdir() if p.name.endswith(".md")))


def rule_page(rule: str) -> str:
    """Returns the page of a rule. Raises UsageError for an unknown rule."""
    if rule not in rule_ids():
        raise UsageError(f"no rule {rule}", remedy=f"the rules are {', '.join(rule_ids())}")
    return resources.files("regionpredict.report.rules").joinpath(f"{rule}.md").read_text("utf-8")
