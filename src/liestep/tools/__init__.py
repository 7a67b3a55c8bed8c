"""Tools for single questions: which integrator, results of other codes, certificates, descriptions."""
