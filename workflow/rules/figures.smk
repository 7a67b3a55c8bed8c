# Figures, one for each job. They read runs and references too, but whatever changes those makes the tables anew.
for drawing in WORKFLOW.drawings:

    rule:
        name:
            rule_name("figures", drawing.study.name, drawing.label)
        input:
            drawing.study.tables,
            # The figure `ensemble` marks the printed numbers that the claims name.
            claims=[path for paths in claim_files(WORKFLOW.folder).values() for path in paths] if "ensemble" in drawing.names else [],
        output:
            vector=[drawing.study.figure(name, "pdf") for name in drawing.names],
            captions=[drawing.study.figure(name, kind) for name in drawing.names for kind in ("caption.txt", "caption.rst")],
            pixels=[
                report(
                    drawing.study.figure(name, "png"),
                    caption=drawing.study.caption(name),
                    category=drawing.study.name,
                    labels={"figure": name},
                )
                for name in drawing.names
            ],
        log:
            drawing.study.log("figures", drawing.label),
        params:
            study=drawing.study.name,
            names=list(drawing.names),
            fingerprint=drawing.study.fingerprint,
            source=drawing.source,
        resources:
            **needs("figures"),
        conda:
            CONDA
        message:
            f"{drawing.study.name}: figures {', '.join(drawing.names)}"
        shell:
            "liestep job figure {params.study:q} {params.names:q} 2> {log:q}"
