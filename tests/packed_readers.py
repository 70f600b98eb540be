"""Small trained readers of different sizes and kinds, packed so that they share a folder of words."""

import json

import numpy as np
import torch

import synthetic
from gareader.data.batching import SPECIAL_WORDS, Collator
from gareader.data.vectors import word_table
from gareader.data.vocabulary import Alphabet
from gareader.readers.reader import Basis
from gareader.readers.registry import READERS
from gareader.trained import ensembles, model
from gareader.trained.model import Model
from gareader.trained.shipping import slim, write_words
from gareader.trained.temperatures import Temperatures

KNOWN = [*SPECIAL_WORDS, *synthetic.PEOPLE, *synthetic.THINGS, "has", "the", "."]


def write_vectors(path):
    """A file of word vectors."""
    chance = np.random.default_rng(0)
    words = [*synthetic.THINGS, "ann", "ben", "has", "the", "gold"]
    path.write_text("".join(f"{word} {' '.join(f'{x:.4f}' for x in chance.normal(size=8))}\n" for word in words))
    return path


def trained(vectors, seed, name="gated-attention", temperature=1.0, letters="", **settings):
    """A reader as a training run leaves it."""
    table = word_table(KNOWN, vectors, width=8, seed=seed)
    alphabet = Alphabet.of([*table.vocabulary, letters])
    kind = READERS[name]
    generator = torch.Generator().manual_seed(seed)
    basis = Basis(torch.from_numpy(table.matrix), len(alphabet), generator=generator)
    reader = kind.reader(kind.config(**settings), basis)
    collator = Collator(table.vocabulary, alphabet, width=8, seed=seed, pretrained=table.pretrained)
    return Model(name, reader.eval(), collator, {"about": f"number {seed}"}, Temperatures(temperature, temperature))


def write_box(folder, vectors):
    """Three readers that share their words."""
    for name, reader in {
        "one": trained(vectors, 1, hops=3, hidden=6, temperature=0.5),
        "two": trained(vectors, 2, hops=3, hidden=4, feature=True),
        "three": trained(vectors, 3, "bidaf", hidden=5),
    }.items():
        words = folder / "words"
        packed = slim(reader, None, words)
        if not words.exists():
            write_words(packed, words)
        model.save(packed, folder / name, packed=True, words_of=words)
    return folder


def made(folder, *names, out="all", temperature=1.0):
    """An ensemble of readers that lie in the folder."""
    ensembles.save(
        [folder / name for name in names], folder / out, Temperatures(temperature, temperature), {"about": "together"}
    )
    return folder / out


def written(example):
    """A question as a JSON line."""
    fields = {"id": example.id, "document": example.document, "query": example.query, "candidates": example.candidates}
    return json.dumps({**fields, "answer": example.candidates[example.answer]}) + "\n"
