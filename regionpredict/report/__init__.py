"""Renders results as text: tables, JSON, CSV and explanations. Pure functions."""
