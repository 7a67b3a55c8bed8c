"""Formulations: the same system in the form a family of integrators needs, by its sheet's forms."""
from collections.abc import Mapping

import numpy as np

from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.sheet import Options, Parameters, Sheet, once


def formulate(sheet: Sheet, parameters: Parameters, state: Mapping[str, np.ndarray], formulation: str,
              options: Options) -> Formulated:
    """A system with checked parameters and initial state in one of its formulations. Options of the form that are not
    given have their defaults; options that are not of the form are ignored.

    Raises:
        InputError: an option is not allowed at these parameters.
    """
    form = sheet.forms[formulation]
    made = form.make(parameters, state, once(form.complete, parameters, options))
    vars(made)["formulation"] = formulation  # `replace` would check all again, for each cell of a map
    return made


def formulate_standard(sheet: Sheet, parameters: Parameters, state: Mapping[str, np.ndarray]) -> Formulated:
    """A system in its standard form, with default options: the one of references, judgements and descriptions."""
    return formulate(sheet, parameters, state, sheet.standard_form, {})
