"""Training runs: the recipe, the gradients, the training loop, and experiments from settings files."""
