"""Writes measurements and their models in the formats that `input/` and Extra-P read."""
