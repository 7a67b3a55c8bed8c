"""Compiled core: dispatch of components, time loops, status codes and the machine-code cache."""
