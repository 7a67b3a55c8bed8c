"""What `snakemake` makes: studies as jobs, the manifest of all products, the state of each."""
