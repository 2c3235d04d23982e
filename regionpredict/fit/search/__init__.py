"""Searches models. Input: points and repetitions. Output: the `FittedModel` that explains them
best.
"""
