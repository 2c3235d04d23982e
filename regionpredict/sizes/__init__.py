"""Values for the sizes of a program: given, checked, recorded and tried. Also finds the sizes that
decide hints.

Input: `--set` and files (`set_option`, `sizes_file`), the program's arguments (`argument_sizes`), a
measured run (`recorded_sizes`). Output: values for names of regions, or one line with the error
(`name_check`, `value_check`, `line_check`, `address_space_check`). Unknown sizes are tried
(`trials`, `open_evictions`) and ranked (`ranking`, `deciding_shares`).
"""
