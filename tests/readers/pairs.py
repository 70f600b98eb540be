"""A corpus for readers that learn at once where to look and whom to name: two of four people, and what each has."""

import random

from gareader.data.examples import PLACEHOLDER, Example
from synthetic import PEOPLE, THINGS


def corpus(size, seed):
    """There are 288 such questions, and a training corpus has them all: whoever knows them has learnt, not more."""
    chance = random.Random(seed)
    examples = []
    for number in range(size):
        people, things = chance.sample(PEOPLE[:4], 2), chance.sample(THINGS[:4], 2)
        document = (people[0], things[0], people[1], things[1])
        answer = chance.randrange(2)
        order = chance.sample(range(2), 2)
        candidates = tuple((people[i],) for i in order)
        examples.append(Example(str(number), document, (PLACEHOLDER, things[answer]), candidates, order.index(answer)))
    return examples
