"""Many runs at once, from arrays to arrays."""
