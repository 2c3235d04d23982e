"""Instruments a build, runs it over thread counts, and stores the measurements.

Input: the command line of a compiler or a program. Output: a `Campaign` (`store.read_campaign`),
stored as JSON lines so that the writer can be killed at any time, and the times of its regions
(`summary.summarise`).
"""
