"""Input: loops. Output: exact numbers of executions of a nest's body in closed form.

`domain` computes the ranges of a nest's variables, and `summation` sums polynomials over a loop.
`piecewise` handles bounds with `min`, `max` and floor divisions.
"""
