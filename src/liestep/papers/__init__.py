"""One room per replicated paper: presets, figures, evidence, own quantities. Papers never import each other."""
