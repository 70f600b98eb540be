"""A model between two: the weighted mean of the weights of a model and of one that was trained from it.

Example: `python -m benchmarks.mixed_weights stories-one-hop stories-one-hop --share 0.8 --out mixed`
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from benchmarks.script import start
from gareader.core.errors import ModelError
from gareader.data.arrays import TABLE
from gareader.trained.model import load, save
from gareader.trained.models import folder

Share = Annotated[float, Parameter(validator=Number(gte=0, lte=1))]


def main(before: str, after: str, *, out: Path, share: Share = 0.8) -> None:
    """Write the model whose weights are (1 - share) of the one and share of the other.

    What was learned last is kept for the most part, and little of what was known before is lost.

    Parameters
    ----------
    before
        The name or folder of the first model.
    after
        That of the model trained from it; its words and notes are kept.
    out
        The folder of the new model.
    share
        The share of the second model's weights.
    """
    first, second = load(folder(before)), load(folder(after))
    ours, theirs = first.reader.state_dict(), second.reader.state_dict()
    shapes = [{name: weight.shape for name, weight in weights.items() if name != TABLE} for weights in (ours, theirs)]
    if first.name != second.name or shapes[0] != shapes[1]:
        raise ModelError(f"{before} and {after} are not of one architecture and size; give a model and its next stage")
    mixed = {name: (1 - share) * ours[name] + share * theirs[name] for name in shapes[0]}
    second.reader.load_state_dict(mixed | {TABLE: theirs[TABLE]})
    mix = {"before": Path(before).name, "after": Path(after).name, "share": share}
    save(replace(second, notes={**second.notes, "mixed": mix}), out)
    print(f"{out}: {1 - share:.0%} of {before}, {share:.0%} of {after}")


if __name__ == "__main__":
    start(main)
