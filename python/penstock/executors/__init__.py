"""Where many runs run: on the cores of this machine, or on a cluster."""
