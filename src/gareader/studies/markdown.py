"""Tables of studies and sweeps in Markdown."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(cells)} |" for cells in (head, *rows)]
    return [lines[0], "|---" * len(head) + "|", *lines[1:]]


def accuracy_cell(accuracy: float, interval: Sequence[float]) -> str:
    low, high = interval
    return f"{100 * accuracy:.1f} [{100 * low:.1f}, {100 * high:.1f}]"
