"""Questions in a data frame of pandas, and their answers in it.

Command: python examples/data_frames.py
"""

import pandas as pd

import gareader

frame = pd.DataFrame(
    {
        "document": [
            "Ann has the lamp. Ben has the drum.",
            "Mary Ann gave Tom the key. Tom opened the door and went in.",
        ],
        "query": ["___ has the drum.", "Who opened the door?"],
        "candidates": [["Ann", "Ben"], None],  # None: they are proposed from the document
    }
)

# From the frame and back: a row is a question, whatever other columns it has.
model = gareader.load()
predictions = list(model.answer_many(frame.to_dict("records")))
frame["answer"] = [prediction.best for prediction in predictions]
frame["probability"] = [prediction.probability for prediction in predictions]
print(frame[["query", "answer", "probability"]])

# Every candidate in a row of its own.
rows = [(each.example.id, *pair) for each in predictions for pair in each.ranking]
candidates = pd.DataFrame(rows, columns=["question", "candidate", "probability"])
print(candidates.groupby("question").probability.max())

# To a corpus that gareader trains on and evaluates, and from any corpus to a frame.
frame.dropna(subset="candidates").to_json("questions.jsonl", orient="records", lines=True)
print(pd.DataFrame(example.record() for example in gareader.read("questions.jsonl")))
