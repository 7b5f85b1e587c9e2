"""Documents for the guards of the clouds themselves, from the same data as the rules."""
