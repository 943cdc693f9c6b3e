"""Our run beside everything that a user would pick instead, on copies of one file: `python -m bench compare`."""
