"""Certificates: orders, identities and symplecticity of the shipped step methods, on numbers of many digits."""
