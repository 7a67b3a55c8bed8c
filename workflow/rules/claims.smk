# Verdicts on the claims of the papers, from the tables of all studies they refer to, and evidence for the errata.
if WORKFLOW.claims:

    rule claims:
        input:
            claims=WORKFLOW.claim_inputs,
            tables=[products.tables for products in WORKFLOW.claimed],
        output:
            table=WORKFLOW.common / "claims.csv",
            page=report(
                WORKFLOW.common / "claims.md",
                category="Claims",
                caption="../report/claims.rst",
            ),
        log:
            f"{RESULTS}/logs/claims.log",
        localrule: True
        conda:
            CONDA
        params:
            folder=WORKFLOW.common,
            papers=list(WORKFLOW.claims),
            source=claim_source(WORKFLOW.computed),
        message:
            "claims: verdicts"
        shell:
            "liestep job claims {params.papers:q} --to {params.folder:q} 2> {log:q}"


if WORKFLOW.errata:

    rule errata:
        input:
            WORKFLOW.errata.values(),
        output:
            table=WORKFLOW.common / "errata.csv",
            page=report(
                WORKFLOW.common / "errata.md",
                category="Errata",
                caption="../report/errata.rst",
            ),
        log:
            f"{RESULTS}/logs/errata.log",
        conda:
            CONDA
        resources:
            **needs("tables"),
        params:
            folder=WORKFLOW.common,
            papers=list(WORKFLOW.errata),
            source=evidence_source(WORKFLOW.errata),
        message:
            "errata: evidence"
        shell:
            "liestep job errata {params.papers:q} --to {params.folder:q} 2> {log:q}"
