# Runs. The command makes the files that are missing or of another specification or source, and then a list of all of
# them. Snakemake looks at the list only: it would take seconds for a thousand files, and would remove those that a job
# finished before it failed.
if WORKFLOW.config.granularity != "run":
    for batch in WORKFLOW.batches:

        rule:
            name:
                batch.rule
            output:
                batch.listing,
            log:
                f"results/{batch.study}/logs/{batch.label}.log",
            params:
                place=[batch.study, *batch.place],
                fingerprint=batch.fingerprint,
            resources:
                **needs("runs"),
            conda:
                CONDA
            message:
                f"{batch.study}: {len(batch.paths)} runs of {' by '.join(batch.place)}"
            shell:
                "liestep job sweep {params.place:q} --list {output:q} 2> {log:q}"

else:

    rule run:
        output:
            update("results/{study}/runs/{problem}/{integrator}/{resolution}.nc"),
        log:
            "results/{study}/logs/{problem}.{integrator}.{resolution}.log",
        params:
            fingerprint=lambda wildcards, output: WORKFLOW.cells[Path(output[0])].fingerprint,
        resources:
            **needs("runs"),
        conda:
            CONDA
        message:
            "{wildcards.study}: run of {wildcards.problem} by {wildcards.integrator}, {wildcards.resolution}"
        shell:
            "liestep job sweep {wildcards.study:q} {wildcards.problem:q} {wildcards.integrator:q} {wildcards.resolution:q}"
            " 2> {log:q}"
