# Entry point: `snakemake` makes every result of the studies that config/config.yaml names.
#
# A study file is turned into rules when this file is read: one rule per (study, problem, integrator), one per reference,
# table, figure. All rules call one command of the package, which anybody can call by hand.
import sys
from pathlib import Path

from liestep.pipeline.workflow import require_config
from liestep.errors import InputError
from snakemake.utils import min_version

min_version("9.0")

try:  # Snakemake says less about what is wrong with the file
    require_config(Path("config/config.yaml"))
except InputError as error:
    sys.exit(f"liestep: {error}")


configfile: "config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"


include: "workflow/rules/runs.smk"
include: "workflow/rules/references.smk"
include: "workflow/rules/analysis.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/products.smk"
include: "workflow/rules/animations.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/manifest.smk"


rule all:
    input:
        rules.manifest.output,
        WORKFLOW.targets,
        # Snakemake does not remake a lost file that only a newer product needed, unless it is asked for.
        [runs_of(products.name) + references_of(products.name) for products in WORKFLOW.studies],
    default_target: True
    message:
        "everything is up to date"
