"""The command line. Only this room prints or reads the environment."""
