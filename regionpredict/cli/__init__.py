"""The command line: one command a file, and the only room that prints or reads the environment."""
