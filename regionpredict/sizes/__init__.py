"""Reads, checks and records values for the sizes of a program, and finds the unknown sizes that
decide hints.

Sizes come from `--set` and files (`set_option`, `sizes_file`), from the program's arguments
(`argument_sizes`), or from a measured run (`recorded_sizes`). Invalid sizes give one line of error
(`name_check`, `value_check`, `line_check`, `address_space_check`). Predictions are repeated for
several values of unknown sizes (`trials`, `open_evictions`), and these sizes are ranked (`ranking`,
`deciding_shares`).
"""
