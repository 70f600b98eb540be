"""Questions in a dataset of Hugging Face, their answers in it, and a corpus of gareader as a dataset.

Command: python examples/hugging_face_datasets.py
"""

from datasets import Dataset

import gareader

# Two rows with the columns that the Children's Book Test has on the hub.
books = Dataset.from_list(
    [
        {
            "sentences": [
                "Ann had the lamp .",
                "`` Take it , '' she said , and Ben took the lamp .",
                "Ann went home .",
            ],
            "question": "Now the lamp was with XXXXX .",
            "options": ["Ann", "Ben"],
            "answer": "Ben",
        },
        {
            "sentences": ["Tom sat by the fire .", "Mary opened the door for the dog .", "The dog ran to Tom ."],
            "question": "The door was opened by XXXXX .",
            "options": ["Mary", "Tom"],
            "answer": "Mary",
        },
    ]
)


def question(row: dict) -> dict:
    """A row as a question of gareader; other columns are left alone."""
    return {"document": " ".join(row["sentences"]), "query": row["question"], "candidates": row["options"]}


# A dataset is a list of dicts, and answer_many takes any.
questions = books.map(question)
model = gareader.load()
predictions = list(model.answer_many(questions))
answered = questions.add_column("best", [prediction.best for prediction in predictions])
print(answered.select_columns(["query", "answer", "best"]).to_list())
print("right:", sum(prediction.correct for prediction in predictions), "of", len(predictions))

# From a dataset to a file that gareader trains on and evaluates, and from any corpus to a dataset.
questions.select_columns(["document", "query", "candidates", "answer"]).to_json("questions.jsonl")
print(Dataset.from_list([example.record() for example in gareader.read("questions.jsonl")]))
