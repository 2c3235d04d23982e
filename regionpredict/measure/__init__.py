"""Region -> Measurements: instrument a build, run it over thread counts, keep what was measured.

In: a compiler's or a program's command line. Out: `Campaign` (`store.read_campaign`), a file of
JSON lines that any moment may end, and its regions' times (`summary.summarise`).
"""
