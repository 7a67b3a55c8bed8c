"""Moving pictures of runs. Nothing here is part of a result: frames show stored samples."""
