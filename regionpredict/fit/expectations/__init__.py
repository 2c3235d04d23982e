"""Expectations of growth and measurements in, verdicts out (Shudler 2018, secs. 3.2 to 3.4)."""
