"""How a state of each system looks, written once for figures and films."""
