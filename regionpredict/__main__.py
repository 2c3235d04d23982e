"""`python -m regionpredict` is the `regionpredict` command."""

from regionpredict.cli.main import program

if __name__ == "__main__":
    program()
