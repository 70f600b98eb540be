"""The paper's equations, word for word, for one example: loops over numpy vectors in float64, nothing batched.

Written from the paper's text alone and used only to check the real layers. Vectors are columns, as on the page.
"""

import numpy as np


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


def softmax(scores):
    powers = np.exp(scores - np.max(scores))
    return powers / powers.sum()


def gru_step(x, h, p):
    """p: W_r U_r b_r W_z U_z b_z W_h U_h b_h."""
    r = sigmoid(p["W_r"] @ x + p["U_r"] @ h + p["b_r"])
    z = sigmoid(p["W_z"] @ x + p["U_z"] @ h + p["b_z"])
    h_tilde = np.tanh(p["W_h"] @ x + p["U_h"] @ (r * h) + p["b_h"])
    return (1 - z) * h + z * h_tilde


def cudnn_step(x, h, p):
    """The cell of torch.nn.GRU, from its documentation, with one bias per gate."""
    r = sigmoid(p["W_r"] @ x + p["b_r"] + p["U_r"] @ h)
    z = sigmoid(p["W_z"] @ x + p["b_z"] + p["U_z"] @ h)
    n = np.tanh(p["W_h"] @ x + p["b_h"] + r * (p["U_h"] @ h))
    return (1 - z) * n + z * h


STEPS = {"paper": gru_step, "cudnn": cudnn_step}


def gates(W, U, b):
    """Stacked matrices as the paper's nine arrays."""
    return {
        f"{name}_{gate}": part.T
        for name, stacked in (("W", W), ("U", U), ("b", b))
        for gate, part in zip("rzh", np.split(stacked.detach().numpy(), 3, axis=-1), strict=True)
    }


def gru_parameters(layer):
    """The two directions of a BiGRU layer."""
    return [gates(layer.input_weight[d], layer.recurrent_weight[d], layer.bias[d, 0, 0]) for d in range(2)]


def step_parameters(layer):
    """A single GRU step's."""
    return gates(layer.input_weight, layer.recurrent_weight, layer.bias)


def gru(X, p, cell):
    h, H = np.zeros(len(p["b_r"])), []
    for x in X:
        h = STEPS[cell](x, h, p)
        H.append(h)
    return H


def bigru(X, forward, backward, *, cell="paper"):
    """Equation 1: [h^f_1 ‖ h^b_T, …, h^f_T ‖ h^b_1]."""
    T = len(X)
    h_f, h_b = gru(X, forward, cell), gru(X[::-1], backward, cell)
    return [np.concatenate([h_f[i], h_b[T - 1 - i]]) for i in range(T)]


def lstm_step(x, h, c, p):
    """p: weight_ih, weight_hh, bias_ih and bias_hh of torch, the gates in its order i, f, g, o."""
    i, f, g, o = np.split(p["weight_ih"] @ x + p["bias_ih"] + p["weight_hh"] @ h + p["bias_hh"], 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def bilstm(X, layer):
    """[h^f_1 ‖ h^b_1, …, h^f_T ‖ h^b_T] of a BiLSTM layer."""
    weights = {name: value.detach().numpy() for name, value in layer.lstm.named_parameters()}
    directions = []
    for order, end in ((X, "_l0"), (X[::-1], "_l0_reverse")):
        p = {name.removesuffix(end): value for name, value in weights.items() if name.endswith(end)}
        h = c = np.zeros(p["weight_hh"].shape[1])
        states = []
        for x in order:
            h, c = lstm_step(x, h, c, p)
            states.append(h)
        directions.append(states)
    forward, backward = directions
    return [np.concatenate(pair) for pair in zip(forward, backward[::-1], strict=True)]


def character_embedding(characters, table, directions, W, b, cell="paper"):
    """C(w) = W z + b with z = z^f ‖ z^b, the last outputs of both directions over the first ten characters."""
    X = [table[c] for c in characters[:10]]
    forward, backward = directions
    z = np.concatenate([gru(X, forward, cell)[-1], gru(X[::-1], backward, cell)[-1]])
    return W @ z + b


def token_attention(d_i, Q):
    """Equation 5 and the line below it: α_i and q̃_i."""
    alpha = softmax(np.array([q @ d_i for q in Q]))
    return sum(a * q for a, q in zip(alpha, Q, strict=True)), alpha


def whole_query(Q):
    """Final forward state beside final backward state."""
    n = len(Q[0]) // 2
    return np.concatenate([Q[-1][:n], Q[0][n:]])


def gate(d_i, q_i, kind):
    """Equation 6 and its two alternatives."""
    if kind == "multiply":
        return d_i * q_i
    if kind == "add":
        return d_i + q_i
    assert kind == "concatenate"
    return np.concatenate([d_i, q_i])


def candidate_probabilities(s, document, candidates, pointer="sum"):
    """Equation 8: Σ of s over the positions where a token of c appears, renormalised over the candidates.

    With `pointer` mean, the sum is divided by the number of distinct tokens of c that appear.
    """
    mass = []
    for candidate in candidates:
        positions = {i for i, word in enumerate(document) if word in candidate}
        tokens = len({document[i] for i in positions}) if pointer == "mean" else 1
        mass.append(sum(s[i] for i in positions) / max(tokens, 1))
    return np.array(mass) / sum(mass)


def token_feature(name, i, document, query, candidates):
    """What the last layer is told of the document word i beside qe-comm."""
    word = document[i]
    blank = query.index("@placeholder")
    owners = [candidate for candidate in candidates if word in candidate]
    if name == "before_feature":
        return int(word in ["@begin", *query[:blank]])
    if name == "after_feature":
        return int(word in [*query[blank + 1 :], "@end"])
    if name == "candidate_feature":
        return int(bool(owners))
    if name == "distance_feature":
        return min(7, int(np.log2(1 + len(document[i + 1 :]))))
    if name == "quotation_feature":
        is_open = False
        for mark in document[:i]:
            is_open = mark == "``" or (is_open and mark != "''")
        return int(is_open and word not in ("``", "''"))
    assert name == "mentions_feature"
    return int(np.log2(1 + max((sum(w in owner for w in document) for owner in owners), default=0)))


def read(model, document, query, candidates):
    """The whole reader for one example; `model` says how (see test_gated_attention_reader.transcribed)."""
    Y = [model["embed"](word) for word in ["@begin", *query, "@end"]]
    X = [model["embed"](word) for word in document]
    alphas = []
    K = model["hops"]
    for k in range(K - 1):
        D = bigru(X, *model["document"][k], cell=model["cell"])
        if model["query_attention"] == "none":
            X = D
            continue
        Q = bigru(Y, *model["query"][k], cell=model["cell"])
        X, rows = [], []
        for d_i in D:
            if model["query_attention"] == "token":
                q_i, alpha_i = token_attention(d_i, Q)
                rows.append(alpha_i)
            else:
                q_i = whole_query(Q)
            X.append(gate(d_i, q_i, model["gate"]))
        if rows:
            alphas.append(np.array(rows))
    if model["feature"] is not None:
        X = [np.concatenate([x, model["feature"][int(w in query)]]) for x, w in zip(X, document, strict=True)]
    for name, table in model["more_features"].items():
        values = [token_feature(name, i, document, query, candidates) for i in range(len(document))]
        X = [np.concatenate([x, table[value]]) for x, value in zip(X, values, strict=True)]
    D = bigru(X, *model["document"][-1], cell=model["cell"])
    Q = bigru(Y, *model["query"][-1], cell=model["cell"])
    q_l = Q[1 + query.index("@placeholder")]
    s = softmax(np.array([q_l @ d for d in D]))
    return candidate_probabilities(s, document, candidates, model["pointer"]), alphas, s
