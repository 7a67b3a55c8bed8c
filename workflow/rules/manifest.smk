# Hashes of all products and of what they were made from, made last; and their comparison with the files of today.
rule manifest:
    input:
        WORKFLOW.targets,
        [
            runs_of(products.name) + references_of(products.name)
            for products in WORKFLOW.studies
        ],
        [products.timings for products in WORKFLOW.studies],
    output:
        # Snakemake removes other outputs before the job; this one keeps the products of studies that are not selected.
        manifest=update(f"{RESULTS}/manifest.json"),
        environment=f"{RESULTS}/environment.json",
    log:
        f"{RESULTS}/logs/manifest.log",
    localrule: True
    conda:
        CONDA
    params:
        studies=[products.name for products in WORKFLOW.studies],
        inputs=inputs_hash(WORKFLOW),
    message:
        "manifest of all products"
    shell:
        "liestep job manifest {params.studies:q} 2> {log:q}"


# Asked for by name: snakemake verify. It has no inputs, because it must see the files as they are, not make them first.
rule verify:
    log:
        f"{RESULTS}/logs/verify.log",
    localrule: True
    conda:
        CONDA
    message:
        "comparing all products with the manifest"
    shell:
        "liestep verify 2> {log:q}"
