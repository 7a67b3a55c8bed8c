# Verdicts on the claims of the papers, from the tables of all studies they refer to, and evidence for the errata.
if WORKFLOW.claims:

    rule claims:
        localrule: True
        input:
            claims=[path for paths in WORKFLOW.claim_files.values() for path in paths],
            tables=[products.tables for products in WORKFLOW.claimed],
        output:
            table="results/claims.csv",
            page=report("results/claims.md", category="Claims", caption="../report/claims.rst"),
        log:
            "results/logs/claims.log",
        params:
            papers=" ".join(WORKFLOW.claims),
            source=claim_source(),
        message:
            "claims: verdicts"
        shell:
            "liestep claims {params.papers} 2> {log}"


if WORKFLOW.errata:

    rule errata:
        input:
            WORKFLOW.errata,
        output:
            table="results/errata.csv",
            page=report("results/errata.md", category="Errata", caption="../report/errata.rst"),
        log:
            "results/logs/errata.log",
        params:
            papers=" ".join(path.stem for path in WORKFLOW.errata),
            source=evidence_source(path.stem for path in WORKFLOW.errata),
        resources:
            **needs("tables"),
        message:
            "errata: evidence"
        shell:
            "liestep errata {params.papers} 2> {log}"
