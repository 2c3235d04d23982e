"""The command line. Only this subpackage prints or reads the environment."""
