"""Readers that attend in steps, with a state between them: iterative, reasonet and nse."""

from shapes import Box, Drawing
from towers import DOCUMENT_WIDTH, LEFT, attention, pointer_sum, read

COLUMN, COLUMN_WIDTH = 450, 216
"""The boxes on the right, which leave room for the line of the state."""
STATE = 690
"""The x of the line that leads the state back to the beginning of a step."""


def back_to(drawing: Drawing, state: Box, label: str, at: float, *targets: tuple[float, Box]) -> None:
    """The state goes up on the right and into boxes from above."""
    top = targets[0][1].y - 16
    points = [(state.right, state.centre), (STATE, state.centre), (STATE, top)]
    for x, box in targets:
        drawing.arrow(
            *points, (x, top), (x, box.y), label=label, at=(STATE, at), end="middle", again=True, on_line=True
        )
        points, label = [(x, top)], ""


def iterative() -> Drawing:
    """Glimpses of the query and of the document in turn."""
    drawing = Drawing(
        "The Iterative Alternating Attention Reader",
        "In each of T glimpses the state of a GRU attends to the query, then to the document; gates decide how much of "
        "both goes into the next state. The last attention to the document points at the answer.",
        590,
    )
    text_layer, question_layer = read(drawing, "Bi-GRU", "Bi-GRU")
    drawing.frame(6, 166, 708, 302, "glimpses $t$ = 1 … $T$,  $s_0$ = 0", title_x=LEFT)
    query = drawing.box(
        COLUMN, 204, COLUMN_WIDTH, 68, "attend", "attention to the query $q_{i,t}$",
        "$softmax_i(q̃_i^T (A_q s_{t−1} + a_q))$", "$q_t = Σ_i q_{i,t} q̃_i$",
    )  # fmt: skip
    document = drawing.box(
        LEFT, 204, DOCUMENT_WIDTH, 68, "attend", "attention to the document $d_{i,t}$",
        "$softmax_i(d̃_i^T (A_d [s_{t−1} ‖ q_t] + a_d))$", "$d_t = Σ_i d_{i,t} d̃_i$",
    )  # fmt: skip
    drawing.arrow((224, text_layer.bottom), (224, document.y), label="$d̃_i$", at=(232, 158))
    drawing.arrow((558, question_layer.bottom), (558, query.y), label="$q̃_i$", at=(566, 158))
    drawing.arrow((query.x, 226), (document.right, 226), label="$q_t$")
    gates = drawing.box(
        COLUMN, 306, COLUMN_WIDTH, 50, "map", "gates $r_q$ and $r_d$", "$σ(W [s_{t−1} ‖ q_t ‖ d_t ‖ q_t ⊙ d_t])$"
    )
    drawing.down(query, gates, "$q_t$")
    points = (document.right, 252), (427, 252), (427, gates.centre), (gates.x, gates.centre)
    drawing.arrow(*points, label="$d_t$", at=(419, 300), end="end")
    state = drawing.box(
        COLUMN, 390, COLUMN_WIDTH, 50, "layer", "$s_t = GRU(x_t, s_{t−1})$", "$x_t = r_q ⊙ q_t ‖ r_d ⊙ d_t$"
    )
    drawing.down(gates, state, "$r_q, r_d$")
    back_to(drawing, state, "$s_{t−1}$", 340, (630, query), (340, document))
    shares = attention(drawing, 494)
    drawing.arrow((224, document.bottom), (224, shares.y), label="$s_i = d_{i,T}$, of the last glimpse", at=(232, 488))
    pointer_sum(drawing, shares, 548)
    return drawing


def reasonet() -> Drawing:
    """Steps of attention, and a gate that may stop at each of them."""
    drawing = Drawing(
        "ReasoNet",
        "One Bi-GRU reads document and query. At each step the state attends to both, a gate gives the probability of "
        "stopping, and the state points at the document. The answer is the mixture of all steps.",
        600,
    )
    text_layer, question_layer = read(drawing, "Bi-GRU", "the same Bi-GRU")
    drawing.frame(6, 166, 708, 308, "steps $t$ = 1 … $T_{max}$", title_x=LEFT)
    query = drawing.box(
        COLUMN, 204, COLUMN_WIDTH, 50, "attend", "attention to the query", "$softmax_i(γ cos(W_1 m_i, W_2 s_t))$"
    )
    document = drawing.box(
        LEFT, 204, DOCUMENT_WIDTH, 50, "attend", "attention to the document", "$softmax_i(γ cos(W'_1 m_i, W'_2 s_t))$"
    )
    drawing.arrow((224, text_layer.bottom), (224, document.y), label="$M^{doc}$", at=(232, 158))
    drawing.arrow((558, question_layer.bottom), (558, query.y), label="$M^{query}$", at=(566, 158))
    state = drawing.box(
        COLUMN, 300, COLUMN_WIDTH, 56, "layer", "$s_{t+1} = GRU(s_t, x_t)$", "$s_1$: the final states of the query"
    )
    drawing.down(query, state, "$x_t^{query}$")
    points = (document.right, 240), (427, 240), (427, 314), (state.x, 314)
    drawing.arrow(*points, label="$x_t^{doc}$", at=(419, 285), end="end")
    back_to(drawing, state, "$s_t$", 280, (630, query), (340, document))
    formula = "$s_{t,i} = softmax_i(γ cos(W''_1 m_i, W''_2 s_t))$"
    answer = drawing.box(LEFT, 320, DOCUMENT_WIDTH, 50, "attend", "where the answer would be", formula)
    drawing.arrow((state.x, 344), (answer.right, 344), label="$s_t$", at=(427, 361))
    drawing.past(text_layer, answer, "$m_i$", at=290)
    gate = drawing.box(COLUMN, 400, COLUMN_WIDTH, 50, "map", "stop at this step?", "$p_t = σ(W_{tg} s_t + b)$")
    drawing.down(state, gate, "$s_t$")
    shares = attention(drawing, 500)
    drawing.arrow((224, answer.bottom), (224, shares.y), label="$s_i = Σ_t stop_t s_{t,i}$", at=(232, 440))
    drawing.aside(gate, shares, at=558)
    drawing.text(420, shares.centre + 20, "$stop_t = p_t Π_{j<t} (1 − p_j)$")
    pointer_sum(drawing, shares, 556)
    return drawing


def nse() -> Drawing:
    """The query as a memory that every step reads and writes."""
    drawing = Drawing(
        "The NSE reader",
        "The query is a memory. Every step reads it, attends to the document, and writes what it finds into it. "
        "The attention of the last step, or a mixture of all steps, points at the answer.",
        646,
    )
    text_layer, question_layer = read(drawing, "Bi-LSTM", "Bi-LSTM")
    drawing.frame(6, 166, 708, 346, "steps $t$ = 1 … $T$")
    left, x, right = 336, 440, 236
    reading = drawing.box(LEFT, 190, left, 34, "layer", "$r_t = LSTM_{read}([s^q_{t−1} ; s^d_{t−1}])$")
    query = drawing.box(
        x, 240, right, 70, "attend", "attention to the memory",
        "$l^q = r_t^T M^q_{t−1}$", "$s^q_t = M^q_{t−1} softmax(l^q)$",
    )  # fmt: skip
    drawing.arrow((reading.right, reading.centre), (520, reading.centre), (520, query.y), label="$r_t$", at=(410, 199))
    drawing.arrow((588, question_layer.bottom), (588, query.y), label="$M^q_0$", at=(596, 158))
    formulas = "$l^d = s^{q T}_t M^d$    $s^d_t = M^d softmax(l^d)$"
    document = drawing.box(LEFT, 258, left, 52, "attend", "attention to the document", formulas)
    drawing.arrow((query.x, 272), (document.right, 272), label="$s^q_t$")
    drawing.past(text_layer, document, "$M^d$", at=185)
    writing = drawing.box(154, 362, 226, 52, "layer", "$w_t = LSTM_{write}(c_t)$", "$c_t = MLP(s^q_t, s^d_t, r_t)$")
    drawing.down(document, writing, "$s^d_t$", x=300)
    memory = drawing.box(
        x, 352, right, 72, "map", "write the memory,  $z = σ(l^q)$",
        "$M^q_t = z M^q_{t−1} + (1 − z) s^d_t$", "gating by $w_t$: part of it stays",
    )  # fmt: skip
    drawing.down(query, memory, "$l^q$", x=558)
    points = (document.right, 298), (410, 298), (410, 368), (memory.x, 368)
    drawing.arrow(*points, label="$s^d_t$", at=(418, 340), end="start")
    drawing.arrow((writing.right, 400), (memory.x, 400), label="$w_t$", at=(410, 417))
    drawing.past(memory, query, "$M^q_t$", x=694, again=True)
    stop = drawing.box(154, 450, 270, 30, "map", "adaptive: stop here?  $e_t = σ(o^T w_t)$")
    drawing.down(writing, stop, "$w_t$", x=267)
    shares = attention(drawing, 546)
    label = "$s = softmax(l^d_T)$,  adaptive:  $Σ_t p_t softmax(l^d_t)$"
    drawing.arrow((90, document.bottom), (90, shares.y), label=label, at=(98, 534))
    drawing.aside(stop, shares, x=420)
    drawing.text(426, shares.centre + 4, "$p_t = e_t Π_{i<t} (1 − e_i)$")
    pointer_sum(drawing, shares, 602)
    return drawing
