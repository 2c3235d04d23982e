"""The search of terms. Input: points and repetitions. Output: the `FittedModel` that explains them
best.
"""
