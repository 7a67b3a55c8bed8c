# Runs, references and times. The commands make the files that are missing or of another specification or source.
# Snakemake looks at a mark only, an empty file: it would take seconds for a thousand files, and would remove those that
# a job finished before it failed.
if WORKFLOW.config.granularity != "run":

    rule sweep:
        output:
            touch(f"{RESULTS}/{{study}}/runs/{{batch}}.made"),
        log:
            f"{RESULTS}/{{study}}/logs/{{batch}}.log",
        conda:
            CONDA
        resources:
            **needs("runs"),
        params:
            arguments=of_batch("runs", "arguments"),
            number=of_batch("runs", "size"),
            fingerprint=of_batch("runs", "fingerprint"),
        priority: priority_of("runs")
        message:
            "{wildcards.study}: {params.number} runs of {wildcards.batch}"
        shell:
            "liestep job sweep {params.arguments:q} 2> {log:q}"

else:

    rule run:
        output:
            update(
                f"{RESULTS}/{{study}}/runs/{{problem}}/{{integrator}}/{{resolution}}.nc"
            ),
        log:
            f"{RESULTS}/{{study}}/logs/{{problem}}.{{integrator}}.{{resolution}}.log",
        conda:
            CONDA
        resources:
            **needs("runs"),
        params:
            fingerprint=lambda wildcards: run_of(wildcards).fingerprint,
        message:
            "{wildcards.study}: run of {wildcards.problem} by {wildcards.integrator}, {wildcards.resolution}"
        shell:
            "liestep job sweep {wildcards.study:q} {wildcards.problem:q} {wildcards.integrator:q} {wildcards.resolution:q}"
            " 2> {log:q}"


# Reference solutions of studies with `reference: true`; up to six problems share a job.
rule reference:
    output:
        touch(f"{RESULTS}/{{study}}/references/{{batch}}.made"),
    log:
        f"{RESULTS}/{{study}}/logs/reference.{{batch}}.log",
    conda:
        CONDA
    resources:
        **needs("references"),
    params:
        arguments=of_batch("references", "arguments"),
        fingerprint=of_batch("references", "fingerprint"),
    priority: priority_of("references")
    message:
        "{wildcards.study}: reference of {wildcards.batch}"
    shell:
        "liestep job reference {params.arguments:q} 2> {log:q}"


# Times of each run, one study after the other, where the study asks for them.
rule time:
    input:
        runs=lambda wildcards: runs_of(wildcards.study),
        references=lambda wildcards: references_of(wildcards.study),  # errors of other runtimes
    output:
        f"{RESULTS}/{{study}}/timings.csv",
    log:
        f"{RESULTS}/{{study}}/logs/timings.log",
    conda:
        CONDA
    # They are processor times of one thread, of one study after the other; on a cluster a node for itself.
    priority: 2_000_000
    resources:
        **needs("times"),
        slurm_extra="--exclusive",
    message:
        "{wildcards.study}: time every run alone"
    shell:
        "liestep job time {wildcards.study:q} 2> {log:q}"
