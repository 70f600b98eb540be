"""Sweeps: search for the best settings with Optuna, on one machine or many; they can be interrupted at any point."""
