"""What functions do to memory in, what happened to a region's arrays before it runs out.

`first_writes` follows the program from `main`; of that `first_touch` tells where the pages lie and
`last_writes` who wrote each array last; `data_distribution` tells how a region deals its arrays
out among the threads.
"""
