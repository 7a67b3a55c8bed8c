# Reference solutions: one job per problem of a study with `reference: true`.
for reference in WORKFLOW.references:

    rule:
        name:
            rule_name("reference", reference.study, reference.problem)
        output:
            reference.path,
        log:
            f"results/{reference.study}/logs/reference.{reference.problem}.log",
        params:
            place=f"{reference.study} {reference.problem}",
            fingerprint=reference.fingerprint,
        message:
            f"{reference.study}: reference of {reference.problem}"
        shell:
            "liestep reference {params.place} 2> {log}"
