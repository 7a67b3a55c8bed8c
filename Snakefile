# `snakemake` in this folder. The workflow itself is where the workflow catalog and users of it as a module look for it.
include: "workflow/Snakefile"


rule everything:  # an included file does not say what is made when nothing is asked for
    default_target: True
    input:
        rules.all.input,
    message:
        "everything is up to date"
