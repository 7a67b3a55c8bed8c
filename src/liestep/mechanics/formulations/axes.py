"""Systems of bodies whose states are told in axes of one's own, and whose equations are in principal axes."""
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from liestep.geometry.quaternion import of_matrix
from liestep.mechanics.contracts.formulated import Formulated, Starts, quaternion_product
from liestep.mechanics.contracts.sheet import Form, Options, Parameter, Parameters, Sheet, State, real_array

IN_BODY = ("body_momentum", "gravity_body", "body_rate", "auxiliary")  # vectors in the body's axes


def in_axes(axes: ArrayLike, sheet: Sheet) -> Sheet:
    """The sheet with states in other axes of the bodies; axes (3, 3) or (n, 3, 3): principal axes in these, as columns.
    """
    q = np.array(axes, dtype=float)
    back = np.swapaxes(q, -1, -2)
    turn = of_matrix(back.reshape(-1, 3, 3)[0])

    def inside(state: State) -> dict[str, np.ndarray]:
        return {name: values @ q if name == "attitude" else values for name, values in state.items()}

    def outside(fields: State) -> dict[str, np.ndarray]:
        return {name: values @ back if name == "attitude" else (q @ values[..., None])[..., 0] if name in IN_BODY else
                quaternion_product(values, np.broadcast_to(turn, values.shape)) if name.startswith("quaternion") else
                values for name, values in fields.items()}

    def made(form: Form, parameters: Parameters, state: State, options: Options) -> Formulated:
        formulated = form.make(parameters, inside(state), options)
        starts, bare = formulated.starts, formulated.bare
        return replace(
            formulated, to_fields=lambda rows: outside(formulated.to_fields(rows)), sight=None,
            bare=bare and (lambda rows: outside(bare(rows))),
            starts=starts and Starts(lambda states: starts.rows(inside(states)), lambda one: starts.scale(inside(one))))

    def moved(function: Callable | None) -> Callable | None:
        return function and (lambda parameters, state, *more: function(parameters, inside(state), *more))

    own: Mapping[str, Form] = {name: replace(form, make=lambda *given, form=form: made(form, *given))
                               for name, form in sheet.forms.items()}
    return replace(sheet, forms=own, axes=q.reshape(-1, 3, 3), cost=moved(sheet.cost), series=moved(sheet.series),
                   exact=moved(sheet.exact), kinetic_energy=lambda parameters, state: sheet.kinetic_energy(
                       parameters, inside(state)))


def principal(inertia: ArrayLike, n: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Moments, and principal axes as columns (n, 3, 3), of matrices (n, 3, 3) of bodies, or (3, 3) of one about a fixed
    point (n = 0); anything else as it is. Raises InputError: it is of no body."""
    array = real_array("inertia", inertia)
    if array.shape != ((n, 3, 3) if n else (3, 3)):
        return array, None
    sizes: dict[str, int] = {}
    Parameter("kg m2", "", ("n",)*(n > 0) + (3, 3), "inertia").check("inertia", array, sizes)
    moments, axes = np.linalg.eigh(array.reshape(-1, 3, 3))
    axes[..., 0] *= np.linalg.det(axes)[:, None]
    for k, matrix in enumerate(array.reshape(-1, 3, 3)):
        if np.array_equal(matrix, np.diag(np.diag(matrix))):  # the moments stay in their order
            moments[k], axes[k] = np.diag(matrix), np.eye(3)
    return moments.reshape(array.shape[:-1]), None if np.array_equal(axes, [np.eye(3)]*len(axes)) else axes
