"""What a fit works on and gives: `Observations` and terms in, `FittedModel` with quality out."""
