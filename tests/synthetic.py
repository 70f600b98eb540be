"""A corpus small enough to learn in seconds: who holds what, among four people and four things."""

import random

from gareader.data.examples import PLACEHOLDER, Example

PEOPLE = ["Ann", "Ben", "Cora", "Dan", "Eve", "Finn", "Gwen", "Hal"]
THINGS = ["kite", "lamp", "drum", "rope", "coin", "book", "ring", "boat"]


def corpus(size, seed):
    chance = random.Random(seed)
    examples = []
    for number in range(size):
        people, things = chance.sample(PEOPLE, 4), chance.sample(THINGS, 4)
        document = [word for pair in zip(people, things, strict=True) for word in (pair[0], "has", "the", pair[1], ".")]
        answer = chance.randrange(4)
        query = (PLACEHOLDER, "has", "the", things[answer], ".")
        order = chance.sample(range(4), 4)
        candidates = tuple((people[i],) for i in order)
        examples.append(Example(str(number), tuple(document), query, candidates, order.index(answer)))
    return examples
