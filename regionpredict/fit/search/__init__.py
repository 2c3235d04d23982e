"""Points and repetitions in, the `FittedModel` that explains them best out: the search of terms."""
