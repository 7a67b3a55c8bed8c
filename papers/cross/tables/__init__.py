"""One file for each table of the studies, which declares `TABLE`."""
