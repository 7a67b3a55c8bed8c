# `snakemake` in this folder. The workflow itself is where the workflow catalog and users of it as a module look for it.
include: "workflow/Snakefile"


rule everything:  # an included file does not say what is made when nothing is asked for
    input:
        rules.all.input,
    default_target: True
    message:
        "everything is up to date"
