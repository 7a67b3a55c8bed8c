# Films of the runs that a study names under `animations`.
for products in WORKFLOW.studies:
    for film in products.animations:

        rule:
            name:
                film.rule
            input:
                runs_of(products.name, film.cell.path),
            output:
                report(
                    film.path,
                    caption="../report/animation.rst",
                    category=products.name,
                    labels={"animation": film.label},
                ),
            log:
                products.log("animate", film.label),
            params:
                run=film.cell.path,
                fingerprint=film.cell.fingerprint,
                source=film_source(),
            resources:
                **needs("figures"),
            conda:
                CONDA
            message:
                f"{products.name}: film of {film.label}"
            shell:
                "liestep animate {params.run:q} -o {output:q} 2> {log:q}"
