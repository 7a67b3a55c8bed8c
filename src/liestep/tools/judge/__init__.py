"""Judge states that any code has written, and the numbers that others can test against."""
