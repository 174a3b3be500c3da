"""The commands of `headway`, one file each; cli.py is the group that holds them."""
