"""`python -m regionpredict` is the `regionpredict` command."""

from regionpredict.cli.main import main

if __name__ == "__main__":
    main()
