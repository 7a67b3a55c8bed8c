"""Other codes and the core on two problems, judged by one definition: `python3 make.py other_codes`, see
docs/other_codes.md."""
