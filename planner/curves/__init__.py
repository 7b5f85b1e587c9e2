"""What a decision looks like away from its own point: curves over demand, mix and load."""
