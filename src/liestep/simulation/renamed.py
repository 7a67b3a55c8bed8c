"""Ids of integrators that are options now, refused with the new call: until the first release."""
from liestep.errors import InputError

RENAMED = {  # id -> one of `catalogue.integrator_calls`
    **{f"vi_sphere_{name}": f"vi_sphere weights={name}" for name in ("y4", "s4", "y6", "kl6", "kl8")},
    **{f"lgvi_{name}": f"lgvi weights={name}" for name in ("y4", "kl8")},
    "rodrigues_newmark": "rodrigues", "rodrigues_exact": "rodrigues drift=exact",
    "rodrigues_exp": "rodrigues drift=exp", "rodrigues_euler": "rodrigues kick=whole",
    **{f"rodrigues_{name}": f"rodrigues weights={name}" for name in ("y4", "s4", "kl6", "kl8")},
}


def refuse_renamed(name: str) -> None:
    """Raises InputError for an id of before, with what it is now."""
    if name in RENAMED:
        integrator, _, call = RENAMED[name].partition(" ")
        options = f" with options {{{', '.join(call.split()).replace('=', ': ')}}}" if call else ""
        raise InputError(f"integrator {name} is now {integrator}{options}")
