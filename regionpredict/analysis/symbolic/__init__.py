"""Input: loops. Output: exact execution counts of the body of a loop nest in closed form.

`domain` computes the ranges of a nest's variables, and `summation` sums polynomials over a loop.
`piecewise` handles bounds with `min`, `max` and floor divisions.
"""
