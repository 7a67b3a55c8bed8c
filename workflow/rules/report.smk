# All results as HTML: an index and a page for each paper. It reads files of runs and references too, but whatever
# changes those makes the tables anew.
rule page:
    input:
        verdicts=WORKFLOW.verdicts,
        tables=[products.tables + products.timings for products in WORKFLOW.studies],
        figures=[
            products.figure(name, kind)
            for products in WORKFLOW.studies
            for name in products.figures
            for kind in ("png", "caption.txt")
        ],
        films=[
            film.path for products in WORKFLOW.studies for film in products.animations
        ],
    output:
        WORKFLOW.reports,
    log:
        f"{RESULTS}/logs/page.log",
    localrule: True
    conda:
        CONDA
    params:
        studies=[products.name for products in WORKFLOW.studies],
        source=page_source(),
    message:
        "report of everything"
    shell:
        "liestep job report {params.studies:q} 2> {log:q}"
