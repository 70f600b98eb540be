"""Readers with several parts: der, epireader and bidaf."""

from shapes import DOCUMENT, Drawing
from towers import (
    ALL,
    DOCUMENT_WIDTH,
    LEFT,
    MENTIONS,
    QUERY_WIDTH,
    RIGHT,
    attention,
    both_ends,
    layers,
    pointer_sum,
    scored,
    windows,
    words,
)


def der() -> Drawing:
    """A state of each entity grows from sentence to sentence."""
    drawing = Drawing(
        "The DER Network",
        "Sentence by sentence a Bi-LSTM reads the document; its states around an entity's mentions become a context of "
        "the entity, and the entity's state is their maximum. The query attends to the contexts of each entity.",
        688,
    )
    text, question = words(drawing)
    drawing.frame(6, 72, 430, 318, "for each sentence $σ$, in their order", title_x=LEFT)
    mention = drawing.box(LEFT, 92, DOCUMENT_WIDTH, 32, "map", "a mention of entity $e$ is read as $W_{dx} s_e$")
    asked = drawing.box(RIGHT, 92, QUERY_WIDTH, 32, "map", "a mention of $e$ is $W_{dxQ} s_e$")
    drawing.down(text, mention)
    drawing.down(question, asked)
    text_layer, question_layer = layers(drawing, 156, "Bi-LSTM", "Bi-LSTM")
    drawing.down(mention, text_layer)
    drawing.down(asked, question_layer)
    context = drawing.box(LEFT, 242, DOCUMENT_WIDTH, 32, "map", "$d_{e,σ} = tanh(W_{hd} h)$")
    drawing.down(text_layer, context, "$h$: states at $e$ and at both ends")
    state = drawing.box(LEFT, 318, 290, 34, "vector", "$s_e ← max(s_e, d_{e,σ})$")
    drawing.down(context, state, "$d_{e,σ}$")
    drawing.past(state, mention, "$s_e$", again=True)
    points = (state.right, state.centre), (458, state.centre), (458, asked.centre), (asked.x, asked.centre)
    drawing.arrow(*points, label="$s_e$", at=(458, 290), end="middle", on_line=True)
    cue = drawing.box(RIGHT, 256, QUERY_WIDTH, 52, "vector", "$u = W_{hu} h_q$", "cue $q = W_{hq} h_q$")
    drawing.down(question_layer, cue)
    drawing.text(cue.middle + 8, 222, "$h_q$: at the blank")
    drawing.text(cue.middle + 8, 242, "and both ends")
    formula = "$a_j = softmax_j(m^T tanh(W_{dm} d_{e,j} + q))$"
    look = drawing.box(LEFT, 430, DOCUMENT_WIDTH, 52, "attend", "attention to the contexts of $e$", formula)
    label = "the first $s_e$ and all contexts $d_{e,j}$"
    drawing.arrow((370, context.bottom), (370, look.y), label=label, at=(362, 416), end="end")
    drawing.aside(cue, look, "$q$", x=540)
    formula = "$v_e = W_{dv} Σ_j a_j d_{e,j}$  ($+ b$ if $e$ is in the query)"
    value = drawing.box(LEFT, 514, DOCUMENT_WIDTH, 32, "vector", formula)
    drawing.down(look, value, "$a_j$")
    score = drawing.box(LEFT, 578, DOCUMENT_WIDTH, 32, "vector", "$u · v_e$")
    drawing.down(value, score, "$v_e$")
    drawing.aside(cue, score, "$u$", x=640)
    scored(drawing, score, 646, "$Pr(e|d,q)$: softmax over the entities $e$")
    return drawing


def epireader() -> Drawing:
    """An Extractor points at candidates, and a Reasoner tests a hypothesis with each."""
    drawing = Drawing(
        "The EpiReader",
        "The Extractor is an Attention Sum Reader and gives its K best candidates. The Reasoner puts each of them into "
        "the query, compares this hypothesis with every sentence, and reads the comparisons with a GRU.",
        684,
    )
    text, question = words(drawing)
    drawing.frame(34, 76, 668, 210, "Extractor")
    text_layer, question_layer = layers(drawing, 96, "Bi-GRU $f$", "Bi-GRU $g$")
    drawing.down(text, text_layer)
    drawing.down(question, question_layer)
    query = both_ends(drawing, question_layer, 182, "$g(q) = →g_{|q|} ‖ ←g_1$")
    shares = attention(drawing, 186)
    drawing.down(text_layer, shares, "$s_i = softmax_i(f_i(d) · g(q))$")
    drawing.arrow((query.x, query.centre), (shares.right, shares.centre), label="$g(q)$")
    best = drawing.box(LEFT, 238, DOCUMENT_WIDTH, 32, "vector", "the $K$ best candidates by $p_k = Σ_{i∈I(c,d)} s_i$")
    drawing.down(shares, best)
    drawing.frame(34, 302, 668, 258, "Reasoner, for each of the $K$ candidates $c_k$")
    sentences = drawing.box(
        LEFT, 320, DOCUMENT_WIDTH, 72, "map", "convolution and maximum over the words",
        "of each sentence, with their matches", "with the query and with $c_k$",
    )  # fmt: skip
    hypothesis = drawing.box(
        RIGHT, 320, QUERY_WIDTH, 72, "map", "convolution and maximum",
        "over the words of the query", "with $c_k$ in its blank",
    )  # fmt: skip
    drawing.past(text, sentences, at=200)
    drawing.past(question, hypothesis, x=710)
    line = 442
    drawing.arrow((best.right, best.centre), (line, best.centre), (line, 356), (hypothesis.x, 356))
    drawing.text(line + 8, 278, "$c_k$")
    formula = "$x_i = [ς_i ; r_S ; r_H]$    $ς_i = r_S^T R r_H$"
    compare = drawing.box(LEFT, 428, DOCUMENT_WIDTH, 32, "map", formula)
    drawing.down(sentences, compare, "$r_S$, of sentence $i$")
    drawing.aside(hypothesis, compare, "$r_H$", at=520)
    formula = "$y_k = w · h_{last}$    $e = softmax_k(y)$"
    gru = drawing.box(LEFT, 492, DOCUMENT_WIDTH, 52, "layer", "GRU over the sentences →", formula)
    drawing.down(compare, gru, "$x_i$")
    both = drawing.box(LEFT, 584, DOCUMENT_WIDTH, 32, "vector", "$π_k ∝ e_k p_k$")
    drawing.arrow((both.middle, gru.bottom), (both.middle, both.y), label="$e_k$", at=(both.middle + 8, 577))
    drawing.arrow((line, 356), (line, both.centre), (both.right, both.centre))
    drawing.text(line + 8, 577, "$p_k$")
    scored(drawing, both, 650, "$Pr(c_k|d,q) = π_k$")
    return drawing


def bidaf() -> Drawing:
    """Attention in both directions between the windows and the query."""
    drawing = Drawing(
        "BiDAF for cloze questions",
        "Windows around the mentions of candidates are encoded with words and characters. Attention flows from each "
        "document word to the query and from the query to the document; two more Bi-LSTMs read the result.",
        640,
    )
    text, question = words(drawing)
    windows(drawing, (70, 79, 88))
    drawing.text(LEFT, 105, "a window around each mention", "note")
    columns = ((LEFT, DOCUMENT_WIDTH), (RIGHT, QUERY_WIDTH))
    lines = "characters (CNN) ‖ word vector,", "then two highway layers"
    embed, embed_query = (drawing.box(x, 112, width, 50, "map", *lines) for x, width in columns)
    drawing.arrow((text.middle, 88), (text.middle, embed.y))
    drawing.down(question, embed_query)
    text_layer, question_layer = layers(drawing, 188, "Bi-LSTM, each window by itself", "the same Bi-LSTM")
    drawing.down(embed, text_layer)
    drawing.down(embed_query, question_layer)
    formula = "$S_{tj} = w · [h_t ; u_j ; h_t ⊙ u_j]$ for every pair of words"
    match = drawing.box(LEFT, 272, ALL, 32, "attend", formula)
    drawing.down(text_layer, match, "$H$", x=text.middle)
    drawing.down(question_layer, match, "$U$", x=question.middle)
    formulas = "$a_t = softmax_j(S_{tj})$    $ũ_t = Σ_j a_{tj} u_j$"
    to_query = drawing.box(LEFT, 340, 318, 52, "attend", "attention to the query", formulas)
    formulas = "$b = softmax_t(max_j S_{tj})$    $h̃ = Σ_t b_t h_t$"
    to_document = drawing.box(378, 340, 318, 52, "attend", "attention to the document", formulas)
    for box in (to_query, to_document):
        drawing.down(match, box, "$S$")
    join = drawing.box(LEFT, 430, DOCUMENT_WIDTH, 32, "vector", "$g_t = [h_t ; ũ_t ; h_t ⊙ ũ_t ; h_t ⊙ h̃]$")
    drawing.down(to_query, join, "$ũ_t$", x=to_query.middle)
    drawing.aside(to_document, join, "$h̃$")
    drawing.past(text_layer, join, "$h_t$", at=326)
    model = drawing.states(LEFT, 492, DOCUMENT_WIDTH, len(DOCUMENT), "two Bi-LSTMs, each window by itself")
    drawing.down(join, model, "$g_t$", x=model.middle)
    score = drawing.box(RIGHT, 500, QUERY_WIDTH, 32, "map", "$o_t = w_p · [g_t ; m_t]$")
    drawing.arrow((model.right, score.centre), (score.x, score.centre), label="$m_t$")
    points = (join.right - 30, join.bottom), (join.right - 30, 476), (score.middle, 476), (score.middle, score.y)
    drawing.arrow(*points, label="$g_t$", at=(score.middle + 8, 492))
    shares = drawing.heat(LEFT, 558, DOCUMENT_WIDTH, MENTIONS)
    drawing.aside(score, shares, "$s = softmax(o)$")
    pointer_sum(drawing, shares, 606)
    return drawing
