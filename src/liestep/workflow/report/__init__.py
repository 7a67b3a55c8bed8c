"""The report: all results in one HTML file that needs no network, no server and no other file."""
