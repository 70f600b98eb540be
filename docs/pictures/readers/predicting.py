"""Readers that score the candidates as words of a vocabulary: deep-lstm, attentive, impatient, stanford, lstm-lm."""

from shapes import DOCUMENT, QUERY, Drawing
from towers import ALL, BLANK, DOCUMENT_WIDTH, LEFT, RIGHT, attention, both_ends, candidates, read, scored, words

WORDS = "$p(a|d,q) ∝ exp(W(a) g)$,  a row of $W$ for each word"


def deep_lstm() -> Drawing:
    """Document and query as one text, through stacked LSTMs."""
    drawing = Drawing(
        "The Deep LSTM Reader",
        "Document, delimiter and query are one text. Stacked LSTMs read it; every layer also has the words as its "
        "input, and the outputs of all layers at the last word score the answer.",
        402,
    )
    width = ALL - 30
    text = drawing.words(LEFT, 34, width, (*DOCUMENT, "|||", *QUERY), "document, delimiter, query: one text $x(t)$")
    first, second = (drawing.states(LEFT, y, width, 13, f"LSTM, layer {n} →") for n, y in ((1, 92), (2, 182)))
    drawing.down(text, first, "$x(t)$")
    drawing.down(first, second, "$y'(t,1)$")
    drawing.past(text, second, "$x(t)$", at=140)
    joint = drawing.box(420, 272, 236, 30, "vector", "$g = y'(|d|+|q|, 1) ‖ y'(|d|+|q|, 2)$")
    x = second.right - width / 26
    end = (x, joint.y)
    drawing.arrow((x, second.bottom - 14), end, label="$y'(t,2)$ at the last word", at=(x - 8, 255), end="end")
    drawing.past(first, joint, "$y'(t,1)$", x=690, at=162)
    for box in candidates(drawing, 350, WORDS):
        turn = (box.middle, joint.centre)
        drawing.arrow((joint.x, joint.centre), turn, (box.middle, box.y))
    drawing.text(310, joint.centre - 8, "$g(d,q)$", "", "middle")
    return drawing


def attentive() -> Drawing:
    """Attention by a layer of tanh, with the query as one vector."""
    drawing = Drawing(
        "The Attentive Reader",
        "A Bi-LSTM reads the document, another the query. The query's vector attends to the document once; the "
        "attended states and the query's vector together score the answer.",
        500,
    )
    text_layer, question_layer = read(drawing, "Bi-LSTM", "Bi-LSTM")
    query = both_ends(drawing, question_layer, 176, "$u = →y_q(|q|) ‖ ←y_q(1)$")
    match = drawing.box(LEFT, 174, DOCUMENT_WIDTH, 34, "map", "$m(t) = tanh(W_{ym} y_d(t) + W_{um} u)$")
    drawing.down(text_layer, match, "$y_d(t)$")
    drawing.arrow((query.x, query.centre), (match.right, query.centre), label="$u$")
    shares = attention(drawing, 248)
    drawing.down(match, shares, "$s(t) ∝ exp(w_{ms}^T m(t))$")
    mean = drawing.box(LEFT, 304, DOCUMENT_WIDTH, 30, "vector", "$r = Σ_t s(t) y_d(t)$")
    drawing.down(shares, mean, "$s(t)$")
    drawing.past(text_layer, mean, "$y_d(t)$")
    joint = drawing.box(LEFT, 378, DOCUMENT_WIDTH, 34, "map", "$g = tanh(W_{rg} r + W_{ug} u)$")
    drawing.down(mean, joint, "$r$")
    drawing.aside(query, joint, "$u$")
    scored(drawing, joint, 456, WORDS)
    return drawing


def impatient() -> Drawing:
    """Attention once more for each query word."""
    drawing = Drawing(
        "The Impatient Reader",
        "As the Attentive Reader, but it attends to the document once for every query word, and each time with what it "
        "has read so far.",
        560,
    )
    text_layer, question_layer = read(drawing, "Bi-LSTM", "Bi-LSTM")
    drawing.frame(6, 166, 660, 222, "once for each query word, $i$ = 1 … |$q$|", title_x=RIGHT - 66)
    formula = "$m(i,t) = tanh(W_{dm} y_d(t) + W_{rm} r(i−1) + W_{qm} y_q(i))$"
    match = drawing.box(LEFT, 186, DOCUMENT_WIDTH, 34, "map", formula)
    x = match.middle
    drawing.arrow((x, text_layer.bottom), (x, match.y), label="$y_d(t)$", at=(x + 8, 157))
    drawing.aside(question_layer, match, "$y_q(i)$", x=BLANK + 54, at=450)
    shares = attention(drawing, 258)
    drawing.down(match, shares, "$s(i,t) ∝ exp(w_{ms}^T m(i,t))$")
    state = drawing.box(LEFT, 316, DOCUMENT_WIDTH, 34, "vector", "$r(i) = Σ_t s(i,t) y_d(t) + tanh(W_{rr} r(i−1))$")
    drawing.down(shares, state, "$s(i,t)$")
    drawing.past(text_layer, state, "$y_d(t)$", at=240)
    x = 444
    points = (state.right, state.centre), (x, state.centre), (x, match.centre + 10), (match.right, match.centre + 10)
    drawing.arrow(*points, label="$r(i−1)$", at=(x + 8, 268), end="start", again=True)
    joint = drawing.box(LEFT, 432, DOCUMENT_WIDTH, 34, "map", "$g = tanh(W_{rg} r(|q|) + W_{qg} u)$")
    drawing.arrow((joint.middle, state.bottom), (joint.middle, joint.y), label="$r(|q|)$", at=(joint.middle + 8, 415))
    u = drawing.box(RIGHT, 434, 190, 30, "vector", "$u = →y_q(|q|) ‖ ←y_q(1)$")
    drawing.arrow((u.x, u.centre), (joint.right, u.centre), label="$u$")
    drawing.past(question_layer, u, x=705)
    scored(drawing, joint, 514, WORDS)
    return drawing


def stanford() -> Drawing:
    """Bilinear attention, then the attended states alone score the answer."""
    drawing = Drawing(
        "The Stanford Attentive Reader",
        "A Bi-GRU reads the document, another the query. The query attends to the document through one matrix, and the "
        "attended states alone score the answer.",
        354,
    )
    text_layer, question_layer = read(drawing, "Bi-GRU", "Bi-GRU")
    query = both_ends(drawing, question_layer, 182, "$q = →h_{|q|} ‖ ←h_1$")
    shares = attention(drawing, 186)
    drawing.down(text_layer, shares, "$p̃_i$    $α_i = softmax_i(q^T W_s p̃_i)$")
    drawing.arrow((query.x, query.centre), (shares.right, shares.centre), label="$q$")
    mean = drawing.box(LEFT, 244, DOCUMENT_WIDTH, 30, "vector", "$o = Σ_i α_i p̃_i$")
    drawing.down(shares, mean, "$α_i$")
    drawing.past(text_layer, mean, "$p̃_i$")
    scored(drawing, mean, 312, "$P(a|d,q) ∝ exp(W_a o)$,  a row for each word")
    return drawing


def lstm_lm() -> Drawing:
    """A language model reads the document, and the query with each candidate in its blank."""
    drawing = Drawing(
        "The LSTM language model",
        "An LSTM reads the document, and goes on with the query, once for each candidate in the blank. The candidate "
        "that makes the query most probable is the answer.",
        466,
    )
    text, question = words(drawing)
    reader = drawing.states(LEFT, 92, DOCUMENT_WIDTH, len(DOCUMENT), "LSTM →")
    drawing.down(text, reader)
    width, last = 280, reader.right - DOCUMENT_WIDTH / 16
    drawing.join((last, reader.bottom - 14), (last, 162))
    drawing.text(last - 8, 155, "$h, c$ after the document", "", "end")
    drawing.join((question.middle, question.bottom), (question.middle, 184))
    drawing.text(question.middle + 8, 110, "each candidate", "note")
    drawing.text(question.middle + 8, 126, "in the blank", "note")
    for name, x in (("Tom", LEFT), ("Ann", LEFT + ALL - width)):
        filled = drawing.words(x, 208, width, (name, *QUERY[1:]))
        layer = drawing.states(x, 260, width, len(QUERY), "the same LSTM →")
        drawing.down(filled, layer)
        drawing.arrow((question.middle, 184), (filled.middle, 184), (filled.middle, filled.y))
        drawing.arrow((last, 162), (x - 16, 162), (x - 16, layer.centre), (layer.x, layer.centre))
        formula = f"$log p(q with {name} | d) = Σ_i log p(q_i | d, q_{{<i}})$"
        log_p = drawing.box(x, 336, width, 50, "map", formula, "$p$: softmax over the question's words")
        drawing.down(layer, log_p)
        answer = drawing.box(x + width / 2 - 60, 424, 120, 30, "answer")
        drawing.text(answer.middle, answer.y + 20, name, name.lower(), "middle")
        drawing.down(log_p, answer)
    drawing.text(LEFT + ALL / 2, 437, "$Pr(c|d,q)$: softmax", "", "middle")
    drawing.text(LEFT + ALL / 2, 453, "over the candidates", "", "middle")
    return drawing
