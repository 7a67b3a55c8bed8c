# Reference solutions of studies with `reference: true`; up to six problems share a job. The command makes those that
# are missing or out of date, and then a list of all of them.
for batch in WORKFLOW.references:

    rule:
        name:
            rule_name("reference", batch.study, batch.label)
        output:
            batch.listing,
        log:
            f"results/{batch.study}/logs/reference.{batch.label}.log",
        params:
            place=[batch.study, batch.problems],
            fingerprint=batch.fingerprint,
        resources:
            **needs("references"),
        conda:
            CONDA
        message:
            f"{batch.study}: reference of {batch.problems}"
        shell:
            "liestep job reference {params.place:q} --list {output:q} 2> {log:q}"
