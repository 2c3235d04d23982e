"""Loops in, exact counts in closed form out: how often the body of a nest runs.

`domain` (the ranges of a nest's variables), `summation` (polynomials over a loop), `piecewise`
(bounds with `min`, `max` and floor divisions).
"""
