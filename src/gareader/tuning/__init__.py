"""Sweeps: the best settings searched for with Optuna, on one machine or many, interrupted at any point."""
