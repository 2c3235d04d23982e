"""Input: memory accesses of functions. Output: the previous use of a region's arrays.

`first_writes` simulates the memory accesses of the program from `main`. From the result,
`first_touch` derives the placement of pages, and `last_writes` the last writer of each array.
`data_distribution` gives the distribution of a region's arrays among the threads.
"""
