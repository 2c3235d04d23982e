"""Results in, text out: tables, JSON, CSV, explanations. Pure functions, which print nothing."""
