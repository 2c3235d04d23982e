"""Input: memory accesses of functions. Output: the previous use of a region's arrays.

`first_writes` executes the memory accesses of the program from `main`. `first_touch` derives the
placement of pages from it, and `last_writes` the last writer of each array. `data_distribution`
gives the distribution of a region's arrays among the threads.
"""
