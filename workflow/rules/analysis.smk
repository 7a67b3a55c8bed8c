# Tables of each study from all its runs, where no job makes them together with the figures; times of each run, taken
# alone on the machine, where the study asks for them.
for products in WORKFLOW.analysed_alone:

    rule:
        name:
            rule_name("analyse", products.name)
        input:
            runs=runs_of(products.name),
            references=references_of(products.name),
            timings=products.timings,
        output:
            tables=products.tables,
            page=report(products.page, category=products.name, caption="../report/tables.rst"),
        log:
            products.log("analyse"),
        params:
            study=products.name,
            runs=len(products.runs),
            fingerprint=products.fingerprint,
            source=table_source(products.name),
        resources:
            **needs("tables"),
        conda:
            CONDA
        message:
            f"{products.name}: tables"
        shell:
            "liestep job analyse {params.study:q} 2> {log:q}"

for products in WORKFLOW.studies:
    if products.timings:

        rule:
            name:
                rule_name("time", products.name)
            input:
                runs=runs_of(products.name),
                references=references_of(products.name),  # errors of other runtimes
            output:
                products.timings,
            log:
                products.log("timings"),
            params:
                study=products.name,
            # Locally, all processors; on a cluster, where nobody says how many there are, a node for itself.
            threads: workflow.resource_settings.cores or 1
            resources:
                **needs("times"),
                slurm_extra="--exclusive",
            conda:
                CONDA
            message:
                f"{products.name}: time every run alone"
            shell:
                "liestep job time {params.study:q} 2> {log:q}"
