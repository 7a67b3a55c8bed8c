"""Runs that do not simply end: samples at times of one's own, events, impacts, control, and runs that go on."""
