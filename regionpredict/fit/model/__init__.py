"""Defines the data of a fit: `Observations` and terms as input, and `FittedModel` with its quality
as output.
"""
