"""Pictures: learning curves, accuracies side by side, accuracy by kind of question, attention, studies and sweeps."""
