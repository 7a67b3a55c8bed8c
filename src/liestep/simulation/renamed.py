"""Ids of integrators that are options now, refused with the new call: until the first release."""
from liestep.errors import InputError

RENAMED = {  # id -> one of `catalogue.integrator_calls`
    **{f"vi_sphere_{name}": f"vi_sphere weights={name}" for name in ("y4", "s4", "y6", "kl6", "kl8")},
    **{f"lgvi_{name}": f"lgvi weights={name}" for name in ("y4", "kl8")},
    "rodrigues_newmark": "rodrigues", "rodrigues_exact": "rodrigues drift=exact",
    "rodrigues_exp": "rodrigues drift=exp", "rodrigues_euler": "rodrigues kick=whole",
    "bliedf1": "bliedf order=1", "bliedf2": "bliedf order=2", "bliedf3": "bliedf",
    "lie_ab2": "lie_ab order=2", "lie_ab4": "lie_ab", "slgi_composed": "slgi weights=y4",
    "cf43": "cf_pair", "cf32a": "cf_pair scheme=cf32a", "cf32b": "cf_pair scheme=cf32b",
    "lie_euler": "rkmk tableau=euler", "lie_heun": "rkmk tableau=heun", "rkmk3": "rkmk tableau=kutta3",
    "rkmk4": "rkmk", "rkmk5": "rkmk tableau=dormand_prince5", "rkmk54": "rkmk_pair",
    **{f"rodrigues_{name}": f"rodrigues weights={name}" for name in ("y4", "s4", "kl6", "kl8")},
}


def refuse_renamed(name: str) -> None:
    """Raises InputError for an id of before, with what it is now."""
    if name in RENAMED:
        integrator, _, call = RENAMED[name].partition(" ")
        options = f" with options {{{', '.join(call.split()).replace('=', ': ')}}}" if call else ""
        raise InputError(f"integrator {name} is now {integrator}{options}")
