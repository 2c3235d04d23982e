"""Values for the sizes of a program: given, checked, recorded, tried; and which of them decide.

In: what a caller writes (`set_option`, `sizes_file`), the program's arguments (`argument_sizes`), a
measured run (`recorded_sizes`). Out: values for the names of a program's regions, or one line that
says what is wrong with one (`name_check`, `value_check`, `line_check`, `address_space_check`).
What nobody gave is tried (`trials`, `open_evictions`) and ranked (`ranking`, `deciding_shares`).
"""
