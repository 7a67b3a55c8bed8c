"""Evidence on the expenditure of the maps of table 1 of lgt2022."""
from liestep.claims.errata import Evidence
from liestep.papers.lgt2022.transition_maps import row_of


def _compared(first: str, second: str, text: str) -> Evidence:
    """That maps of letter `first` need less operations than those of `second`, for both absolute coordinates."""
    found = {name: row_of(name) for number in (1, 2) for name in (f"{number}{first}", f"{number}{second}")}
    numbers = {f"m{name}": float(found[name].act + found[name].rate) for name in found}
    numbers["defect"] = max(row.defect for row in found.values())
    return Evidence(all(numbers[f"m{k}{first}"] < numbers[f"m{k}{second}"] for k in (1, 2))
                    and numbers["defect"] < 1e-14, text, numbers)


def expenditure_of_maps() -> Evidence:
    """Section 6.4 b: SO(3) x R^3 needs less than screw coordinates."""
    return _compared("b", "a", "operations of map and differential: 1b {m1b:.0f}, 1a {m1a:.0f}; 2b {m2b:.0f}, 2a"
                     " {m2a:.0f}; all maps are the product of their group to {defect:.0e}")


def expenditure_of_cayley_maps() -> Evidence:
    """Section 6.4 c: Rodrigues vectors need less than rotation vectors."""
    return _compared("c", "b", "operations of map and differential: 1c {m1c:.0f}, 1b {m1b:.0f}; 2c {m2c:.0f}, 2b"
                     " {m2b:.0f}; all maps are the product of their group to {defect:.0e}")
