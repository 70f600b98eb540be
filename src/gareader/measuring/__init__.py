"""Evaluation of models: accuracy, comparison, analysis, and baselines without training."""
