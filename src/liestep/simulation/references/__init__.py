"""Reference solutions: two independent engines and their disagreement."""
