"""Other codes and the core on two problems, judged by one definition: `python3 make.py hall`, see docs/hall.md."""
