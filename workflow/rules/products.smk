# Tables and figures of each study in one job. The command makes those that are missing or out of date; Snakemake leaves
# the others where they are (`update`). A rule for each study: outputs cannot be functions of wildcards.
for products in WORKFLOW.studies:

    rule:
        name:
            products.rule
        input:
            runs=runs_of(products.name),
            references=references_of(products.name),
            timings=products.timings,
            # The figure `ensemble` marks the printed numbers that the claims name.
            claims=(
                sorted(WORKFLOW.folder.glob("claims/**/*.yaml"))
                if "ensemble" in products.figures
                else []
            ),
        output:
            tables=[update(path) for path in products.tables],
            page=report(
                update(products.page),
                category=products.name,
                caption="../report/tables.rst",
            ),
            vector=[update(products.figure(name, "pdf")) for name in products.figures],
            captions=[
                update(products.figure(name, kind))
                for name in products.figures
                for kind in ("caption.txt", "caption.rst")
            ],
            pixels=[
                report(
                    update(products.figure(name, "png")),
                    caption=products.caption(name),
                    category=products.name,
                    labels={"figure": name},
                )
                for name in products.figures
            ],
        log:
            products.log("products"),
        conda:
            CONDA
        resources:
            **needs("tables"),
        params:
            study=products.name,
            runs=len(products.runs),
            fingerprint=products.fingerprint,
            source=products_source(products),
        message:
            f"{products.name}: tables and figures"
        shell:
            "liestep job products {params.study:q} 2> {log:q}"


# Films of the runs that a study names under `animations`.
rule animate:
    input:
        lambda wildcards: runs_of(wildcards.study, film_of(wildcards).cell.path),
    output:
        report(
            f"{RESULTS}/{{study}}/animations/{{film}}.gif",
            caption="../report/animation.rst",
            category="{study}",
            labels={"animation": "{film}"},
        ),
    log:
        f"{RESULTS}/{{study}}/logs/animate.{{film}}.log",
    conda:
        CONDA
    resources:
        **needs("figures"),
    params:
        run=lambda wildcards: film_of(wildcards).cell.path,
        fingerprint=lambda wildcards: film_of(wildcards).cell.fingerprint,
        source=film_source(),
    message:
        "{wildcards.study}: film of {wildcards.film}"
    shell:
        "liestep animate {params.run:q} --study {wildcards.study:q} -o {output:q} 2> {log:q}"
