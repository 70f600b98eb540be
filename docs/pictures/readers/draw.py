"""Draw the architecture of every reader.

Example: python docs/pictures/readers/draw.py docs/pictures/readers
"""

import sys
from pathlib import Path

import composed
import pointing
import predicting
import stepping

PICTURES = {
    "gated-attention": pointing.gated_attention,
    "deep-lstm": predicting.deep_lstm,
    "attentive": predicting.attentive,
    "impatient": predicting.impatient,
    "memory": pointing.memory,
    "attention-sum": pointing.attention_sum,
    "der": composed.der,
    "stanford": predicting.stanford,
    "iterative": stepping.iterative,
    "epireader": composed.epireader,
    "aoa": pointing.aoa,
    "reasonet": stepping.reasonet,
    "nse": stepping.nse,
    "bidaf": composed.bidaf,
    "lstm-lm": predicting.lstm_lm,
}
"""The pictures by the names of their readers."""

if __name__ == "__main__":
    for name, picture in PICTURES.items():
        (Path(sys.argv[1]) / f"{name}.svg").write_text(picture().svg(), encoding="utf-8")
