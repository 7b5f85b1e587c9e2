"""Prices, break-even, floor and spillover, self-hosting and exit."""
