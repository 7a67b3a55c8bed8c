"""The rotation bench: motions with certified answers, and a judge of states that any code has written."""
