"""The rotation bench; as a package for the rules that the study takes from its judge."""
