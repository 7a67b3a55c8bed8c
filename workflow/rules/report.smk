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


# A call for the page of one paper, `snakemake results/report/PAPER.html`, makes it from that paper's studies.
if WORKFLOW.selection:

    rule paper_page:
        input:
            rules.page.output,
        output:
            f"{RESULTS}/report/{{page}}.html",
        log:
            f"{RESULTS}/logs/page.{{page}}.log",
        localrule: True
        conda:
            CONDA
        params:
            studies=[products.name for products in WORKFLOW.studies],
            source=page_source(),
        message:
            "page of {wildcards.page}"
        shell:
            "liestep job report {params.studies:q} --page {wildcards.page:q} 2> {log:q}"
