"""`python -m gareader` is the command `gareader`."""

from gareader.cli import main

main()
