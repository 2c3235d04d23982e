"""The pages of the rules: one Markdown file a rule, with a failing and a mended example."""

from __future__ import annotations

from importlib import resources

from regionpredict.errors import UsageError


def rule_ids() -> tuple[str, ...]:
    """Every rule that has a page."""
    folder = resources.files("regionpredict.report.rules")
    return tuple(sorted(p.name[:-3] for p in folder.iterdir() if p.name.endswith(".md")))


def rule_page(rule: str) -> str:
    """A rule's page; UsageError where there is no such rule."""
    if rule not in rule_ids():
        raise UsageError(f"no rule {rule}", remedy=f"the rules are {', '.join(rule_ids())}")
    return resources.files("regionpredict.report.rules").joinpath(f"{rule}.md").read_text("utf-8")
