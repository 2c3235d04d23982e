"""Input: loops. Output: exact numbers of executions of a nest's body in closed form.

`domain` (the ranges of a nest's variables), `summation` (polynomials over a loop), `piecewise`
(bounds with `min`, `max` and floor divisions).
"""
