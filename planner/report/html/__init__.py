"""The report as one self-contained HTML file: pages over the plan, charts beside tables."""
