"""Facts as data: models, accelerators, prices, regions, each row with source and date."""
