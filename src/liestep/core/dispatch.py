"""Let compiled code call any plain method of any NamedTuple.

Systems, formulations and integrators ("components") are NamedTuples: their fields are data, their methods plain Python on
arrays and scalars. Importing this module teaches Numba to resolve `component.method(...)`: the method is compiled as a kernel,
inlined into its caller, and specialised for the types at hand. Nothing has to be registered.

Rules for the author of a method (a violation is a compile error, or slow):
- arguments are arrays, scalars, tuples or components; arrays are written in place, loops copy (no whole-array assignment);
- a method may return scalars or tuples of scalars, never an array or a view;
- numbers that a method needs are fields (class constants are invisible to compiled code).
"""
import inspect
from functools import cache

from numba import njit, types
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr
from numba.extending import lower_builtin

# error_model="numpy": 1/0 is inf, not an exception. _nrt=False: no reference counting, so that an allocation or a returned
# view is an error of compilation; with reference counts the same loops run 3-8 times slower.
KERNEL_OPTIONS = {"error_model": "numpy", "forceinline": True, "_nrt": False}

kernel = njit(**KERNEL_OPTIONS)


@cache
def _method_template(function):
    """Typing template and lowering for one plain function used as a method."""
    dispatcher = kernel(function)
    callee = types.Dispatcher(dispatcher)

    class Method(AbstractTemplate):
        key = function
        strong = dispatcher  # Numba itself keeps only a weak reference

        def generic(self, args, kws):
            return callee.get_call_type(self.context, (self.this, *args), kws).as_method()

    @lower_builtin(function, types.BaseNamedTuple, types.VarArg(types.Any))
    def lower(context, builder, signature, args):
        call_type = callee.get_call_type(context.typing_context, signature.args, {})
        call = context.get_function(callee, call_type)
        context.add_linking_libs(getattr(call, "libs", ()))
        return call(builder, args)

    return Method


@infer_getattr
class ComponentAttribute(AttributeTemplate):
    """Resolves `component.name` to a bound kernel when `name` is a plain method of the component's class."""

    key = types.BaseNamedTuple

    def generic_resolve(self, component, name):
        value = inspect.getattr_static(component.instance_class, name, None)
        if inspect.isfunction(value):
            return types.BoundFunction(_method_template(value), component)
        return None
