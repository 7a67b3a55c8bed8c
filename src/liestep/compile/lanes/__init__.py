"""Numbers of several members at once in the compiled core."""
