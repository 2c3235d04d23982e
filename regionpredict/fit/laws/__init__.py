"""Input: observations. Output: a `FittedModel` of a named law, such as Amdahl's or saturation."""
