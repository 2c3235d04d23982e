"""Instruments a build, runs it over thread counts, and stores the measurements.

Input: the command line of a compiler or a program. Output: a `Campaign` (`store.read_campaign`) and
the times of its regions (`summary.summarise`). A campaign is stored as JSON lines, so that the
writer can be killed at any time.
"""
