"""Readers that point at the answer: gated-attention, attention-sum, aoa and memory."""

from shapes import QUERY, Drawing
from towers import (
    ALL,
    BLANK,
    DOCUMENT_WIDTH,
    LEFT,
    MENTIONS,
    QUERY_WIDTH,
    RIGHT,
    attention,
    both_ends,
    layers,
    pointer_sum,
    read,
    windows,
    words,
)


def gated_attention() -> Drawing:
    """K hops of Bi-GRUs with gated attention between them, then the pointer sum."""
    drawing = Drawing(
        "The Gated-Attention Reader",
        "In every hop but the last a Bi-GRU reads the document and another the query; each document word attends to "
        "the query and is multiplied by what it finds. After the last hop the state at the blank points at words.",
        500,
    )
    text, question = words(drawing)
    drawing.frame(6, 82, 708, 190, "hops $k$ = 1 … $K$ − 1, each with its own weights", title_x=LEFT + 190)
    text_layer, question_layer = layers(drawing, 104, "Bi-GRU$_D^{(k)}$", "Bi-GRU$_Q^{(k)}$")
    drawing.arrow((text.middle, text.bottom), (text.middle, 104), label="$X^{(0)}$", at=(text.middle + 8, 77))
    drawing.arrow((question.middle, question.bottom), (question.middle, 104), label="$Y$", at=(question.middle + 8, 77))
    formulas = "$α_i = softmax(Q^{(k)T} d_i)$    $q̃_i = Q^{(k)} α_i$    $x_i = d_i ⊙ q̃_i$"
    gate = drawing.box(
        LEFT, 190, DOCUMENT_WIDTH, 54, "attend", "gated attention, for each word $d_i$ of the document", formulas
    )
    drawing.down(text_layer, gate, "$D^{(k)}$")
    drawing.aside(question_layer, gate, "$Q^{(k)}$")
    drawing.past(gate, text_layer, "$X^{(k)}$", again=True)
    last, last_query = layers(drawing, 328, "Bi-GRU$_D^{(K)}$", "Bi-GRU$_Q^{(K)}$")
    place = (text.middle - 8, 303)
    drawing.arrow((text.middle, gate.bottom), (text.middle, last.y), label="$X^{(K−1)}$", at=place, end="end")
    feature = drawing.box(LEFT + 216, 284, 144, 26, "map", "$f_i$: is it in the query?")
    drawing.down(feature, last, x=feature.middle)
    drawing.past(question, last_query, "$Y$", x=705, at=304)
    shares = attention(drawing, 412)
    drawing.down(last, shares, "$D^{(K)}$    $s = softmax(q_ℓ^T D^{(K)})$")
    start, turn = (BLANK, last_query.bottom - 14), (BLANK, shares.centre)
    place = (BLANK + 8, 398)
    drawing.arrow(
        start, turn, (shares.right, shares.centre), label="$q_ℓ$: the state at the blank", at=place, end="start"
    )
    pointer_sum(drawing, shares, 460)
    return drawing


def attention_sum() -> Drawing:
    """A Bi-GRU each, a dot product, the pointer sum."""
    drawing = Drawing(
        "The Attention Sum Reader",
        "A Bi-GRU reads the document, another the query. The final query states point at document words by a dot "
        "product, and the attention on all mentions of a candidate is added up.",
        292,
    )
    text_layer, question_layer = read(drawing, "Bi-GRU $f$", "Bi-GRU $g$")
    query = both_ends(drawing, question_layer, 191, "$g(q) = →g_{|q|} ‖ ←g_1$")
    shares = attention(drawing, 195)
    drawing.down(text_layer, shares, "$f_i(d)$    $s_i = softmax_i(f_i(d) · g(q))$")
    drawing.arrow((query.x, query.centre), (shares.right, shares.centre), label="$g(q)$")
    pointer_sum(drawing, shares, 250)
    return drawing


def aoa() -> Drawing:
    """All pairs of words are matched; attention over attention weighs the rows."""
    drawing = Drawing(
        "The Attention-over-Attention Reader",
        "Every document word is matched with every query word. Each query word has an attention over the document, "
        "and the mean attention over the query weighs them.",
        510,
    )
    text_layer, question_layer = read(drawing, "Bi-GRU", "Bi-GRU")
    formula = "$M(i,j) = h_{doc}(i) · h_{query}(j)$ for every pair of words"
    match = drawing.box(LEFT, 184, ALL, 32, "attend", formula)
    drawing.down(text_layer, match, "$h_{doc}$", x=text_layer.middle)
    drawing.down(question_layer, match, "$h_{query}$", x=question_layer.middle)
    alpha = (
        (0.3, 0.05, 0.4, 0, 0.5, 0.05, 0.02, 0.1),
        (0.05, 0.3, 0.05, 0, 0.3, 0.8, 0.1, 0.05),
        (0.02, 0.02, 0.02, 0.1, 0.02, 0.05, 0.9, 0.1),
        (0.05, 0.02, 0.1, 0, 0.5, 0.05, 0.1, 0.8),
    )
    beta = ((0.7, 0.1, 0.1, 0.1), (0.2, 0.6, 0.1, 0.1), (0.7, 0.1, 0.1, 0.1), (0.2, 0.1, 0.1, 0.9))
    top = 272
    for number, row in enumerate(alpha):
        rows = drawing.heat(LEFT, top + 15 * number, DOCUMENT_WIDTH, row, 15)
    for number, kind in enumerate((0, 1, 0, 3, 2, 1, 3, 3)):
        drawing.heat(RIGHT, top + 7.5 * number, QUERY_WIDTH, beta[kind], 7.5)
    for x, label in (
        (LEFT + 28, "$α$: softmax over the document, a row for each query word"),
        (RIGHT + 28, "$β$: softmax over the query,"),
    ):
        place = (x + 8, 248) if x < RIGHT else (x + 8, 239)
        drawing.arrow((x, match.bottom), (x, top), label=label, at=place)
    drawing.text(RIGHT + 36, 257, "a row for each document word")
    mean = drawing.heat(RIGHT, 366, QUERY_WIDTH, (0.5, 0.2, 0.1, 0.3))
    drawing.arrow((mean.middle, rows.bottom), (mean.middle, mean.y), label="$β̄$: their mean")
    pointer = attention(drawing, 416)
    drawing.arrow((text_layer.middle, rows.bottom), (text_layer.middle, pointer.y), label="$s = α β̄$")
    drawing.aside(mean, pointer, "weights of the rows of $α$")
    pointer_sum(drawing, pointer, 470)
    return drawing


def memory() -> Drawing:
    """Windows around candidates and around the blank."""
    drawing = Drawing(
        "The memory network over windows",
        "The words around each mention of a candidate are one memory, the words around the blank are the query. The "
        "memory that is most like the query has the answer.",
        328,
    )
    text, question = words(drawing)
    starts = windows(drawing, (72, 84, 96))
    query_cell = QUERY_WIDTH / len(QUERY)
    drawing.bracket(RIGHT + 3, RIGHT + 3 * query_cell - 3, BLANK, 72)
    drawing.text(text.right, 82, "windows of $b$ = 5 words", "note", "end")
    drawing.text(question.right, 92, "the window around the blank", "note", "end")
    memories = drawing.box(LEFT, 130, DOCUMENT_WIDTH, 34, "map", "$c_i = Σ_k A_k[w_{i+k}]$")
    query = drawing.box(RIGHT, 130, QUERY_WIDTH, 34, "map", "$q = Σ_k A_k[q_{ℓ+k}]$")
    for x, y in starts:
        drawing.arrow((x, y), (x, memories.y))
    drawing.arrow((BLANK, 72), (BLANK, query.y))
    drawing.text((memories.right + query.x) / 2, query.centre - 4, "the same", "note", "middle")
    drawing.text((memories.right + query.x) / 2, query.centre + 12, "tables $A_k$", "note", "middle")
    shares = drawing.heat(LEFT, 222, DOCUMENT_WIDTH, MENTIONS)
    drawing.down(memories, shares, "$c_i$    $s = softmax(o)$,  $o_i = c_i · q$")
    drawing.aside(query, shares, "$q$", at=440)
    pointer_sum(drawing, shares, 284)
    return drawing
