"""What most of the pictures share: the words of the question, layers over them, and the candidates at the end."""

from shapes import DOCUMENT, QUERY, Box, Drawing, Point

LEFT, DOCUMENT_WIDTH = 44, 360
"""The document's tower, and its width; a word is 45 wide."""
RIGHT, QUERY_WIDTH = 480, 216
"""The query's tower; a word is 54 wide."""
ALL = RIGHT + QUERY_WIDTH - LEFT
"""The width of both towers."""
BLANK = RIGHT + QUERY_WIDTH / 8
"""The x of the blank."""

SHARES = (0.3, 0.03, 0.35, 0.02, 0.95, 0.08, 0.04, 0.12)
"""Attention that finds the answer, Ann."""
MENTIONS = tuple(share if word in ("Tom", "Ann") else 0.0 for word, share in zip(DOCUMENT, SHARES, strict=True))
"""Attention on the mentions of candidates alone."""
SUM = "$Pr(c|d,q) ∝ Σ_{i∈I(c,d)} s_i$"
"""The pointer sum over I(c,d), the places of c in d."""


def words(drawing: Drawing, y: float = 34) -> tuple[Box, Box]:
    """The document and the query."""
    document = drawing.words(LEFT, y, DOCUMENT_WIDTH, DOCUMENT, "document $d$")
    return document, drawing.words(RIGHT, y, QUERY_WIDTH, QUERY, "query $q$")


def windows(drawing: Drawing, heights: tuple[float, ...]) -> list[Point]:
    """A window of five words around each mention; returns the centres."""
    cell = DOCUMENT_WIDTH / len(DOCUMENT)
    centres = []
    for place, y in zip((0, 2, 4), heights, strict=True):
        left, right = LEFT + max(0, place - 2) * cell, LEFT + (place + 3) * cell
        centres.append((LEFT + (place + 0.5) * cell, y))
        drawing.bracket(left + 3, right - 3, *centres[-1])
    return centres


def layers(drawing: Drawing, y: float, document: str, query: str) -> tuple[Box, Box]:
    """A recurrent layer over the document, and one over the query."""
    return (
        drawing.states(LEFT, y, DOCUMENT_WIDTH, len(DOCUMENT), document),
        drawing.states(RIGHT, y, QUERY_WIDTH, len(QUERY), query),
    )


def read(drawing: Drawing, document: str, query: str, y: float = 92) -> tuple[Box, Box]:
    """The words, with a recurrent layer over the document and one over the query."""
    text, question = words(drawing)
    text_layer, question_layer = layers(drawing, y, document, query)
    drawing.down(text, text_layer)
    drawing.down(question, question_layer)
    return text_layer, question_layer


def both_ends(drawing: Drawing, layer: Box, y: float, label: str, width: float = 170) -> Box:
    """The query as one vector: the last state of each direction."""
    vector = drawing.box(layer.middle - width / 2, y, width, 30, "vector", label)
    cell = QUERY_WIDTH / len(QUERY)
    for x, turn in ((layer.x + cell / 2, vector.x + 20), (layer.right - cell / 2, vector.right - 20)):
        drawing.arrow((x, layer.bottom - 14), (x, layer.bottom + 12), (turn, layer.bottom + 12), (turn, y))
    return vector


def attention(drawing: Drawing, y: float) -> Box:
    """The attention on each word of the document."""
    return drawing.heat(LEFT, y, DOCUMENT_WIDTH, SHARES)


def pointer_sum(drawing: Drawing, shares: Box, y: float, formula: str = SUM) -> None:
    """The attention on the mentions of each candidate is added up."""
    cell = shares.width / len(DOCUMENT)
    _, ann = candidates(drawing, y, formula)
    for number, word in enumerate(DOCUMENT):
        if word in ("Tom", "Ann"):
            x = shares.x + (number + 0.5) * cell
            drawing.arrow((x, shares.bottom), (x, y))
    drawing.text(ann.middle, y - 6, "+", "bold", "middle")


def candidates(drawing: Drawing, y: float, formula: str) -> tuple[Box, Box]:
    """A box for each candidate, and beside them what their probabilities are."""
    boxes = []
    for name, x, width in (("Tom", LEFT, 64), ("Ann", LEFT + 82, 124)):
        boxes.append(drawing.box(x, y, width, 30, "answer"))
        drawing.text(boxes[-1].middle, y + 20, name, name.lower(), "middle")
    drawing.text(LEFT + 222, y + 20, formula)
    return boxes[0], boxes[1]


def scored(drawing: Drawing, vector: Box, y: float, formula: str) -> None:
    """Each candidate has a score of its own with a vector."""
    for box in candidates(drawing, y, formula):
        drawing.down(vector, box)
