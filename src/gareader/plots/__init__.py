"""Pictures: learning curves, readers side by side, where one is right, and where it looked."""

from gareader.plots.analysis import analysis_picture
from gareader.plots.attention import attention_figure
from gareader.plots.comparison import comparison_picture
from gareader.plots.curves import learning_curves
from gareader.plots.figures import COLOURS, check_picture, empty_figure, save
from gareader.plots.study import study_picture
from gareader.plots.tuning import importance_picture, parallel_picture

__all__ = [
    "COLOURS",
    "analysis_picture",
    "attention_figure",
    "check_picture",
    "comparison_picture",
    "empty_figure",
    "importance_picture",
    "learning_curves",
    "parallel_picture",
    "save",
    "study_picture",
]
