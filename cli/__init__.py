"""The command line: one file per command, assembled in `main`. Commands call, they do not decide."""
