"""A Gated-Attention Reader as an ONNX graph, built from its weights: the paper's equations, one line each.

B examples, D document tokens, Q query tokens, C candidates, H GRU units per direction, N characters, T types.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from gareader.core.config import from_table
from gareader.core.errors import ModelError
from gareader.data.arrays import Batch
from gareader.data.batching import Arrays
from gareader.readers.features import ROWS, chosen
from gareader.readers.gated_attention_numpy import GatedAttentionInNumpy
from gareader.readers.gated_attention_settings import GATED_ATTENTION, GatedAttentionConfig
from gareader.trained.folder import as_model_errors
from gareader.trained.packing import PackedTable
from gareader.trained.stored import Stored, read

OPSET, IR = 17, 8
"""Versions that runtimes of 2022 and later know."""
LARGEST = (1 << 31) - (1 << 20)
"""The most bytes of an ONNX file: protobuf's limit of 2 GiB."""

BOOL, FLOAT, INT = TensorProto.BOOL, TensorProto.FLOAT, TensorProto.INT64
INPUTS: dict[str, tuple[int, tuple[str | int, ...]]] = {
    "known": (INT, ("known",)),
    "unknown": (FLOAT, ("unknown", 0)),
    "characters": (INT, ("types", "N")),
    "character_mask": (BOOL, ("types", "N")),
    "document": (INT, ("B", "D")),
    "document_mask": (BOOL, ("B", "D")),
    "quoted": (BOOL, ("B", "D")),
    "query": (INT, ("B", "Q")),
    "query_mask": (BOOL, ("B", "Q")),
    "placeholder": (INT, ("B",)),
    "occurrence": (BOOL, ("B", "C", "D")),
    "words_present": (INT, ("B", "C")),
}
"""The arrays of a Batch with their types and shapes; 0 is the width of the word vectors."""
CHARACTERS = "characters", "character_mask"
OUTPUT, TEMPERATURE = "log_probabilities", "temperature"


def onnx_file(folder: Path) -> bytes:
    """The content of the ONNX file of a model; raise ModelError for one that ONNX cannot express."""
    stored = read(folder)
    if stored.name != GATED_ATTENTION:
        raise ModelError(f"{folder}: a reader of the kind {stored.name!r}; only {GATED_ATTENTION} is written as ONNX")
    with as_model_errors(folder):
        config = from_table(GatedAttentionConfig, stored.settings, "reader")
        reader = GatedAttentionInNumpy(config, stored.weights, stored.words, len(stored.collator.alphabet))
    table = stored.words
    size = (table.numbers.nbytes if isinstance(table, PackedTable) else table.nbytes) + sum(
        weight.nbytes for weight in reader.weights.values()
    )
    if size > LARGEST:
        raise ModelError(f"{folder}: {size >> 20} MB, and an ONNX file has at most 2 GB; pack it first: gareader pack")
    graph = _Graph(reader, stored)
    model = helper.make_model(
        graph.whole(), opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR, producer_name="gareader"
    )
    helper.set_model_props(model, metadata(stored))
    onnx.checker.check_model(model)
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def metadata(stored: Stored) -> dict[str, str]:
    """What a program needs to make the inputs: vocabulary and alphabet, one entry a line, and settings as JSON."""
    collator = stored.collator
    return {
        "vocabulary": "\n".join(collator.vocabulary),
        "alphabet": "\n".join(collator.alphabet),
        "words": json.dumps(collator.settings),
        "temperatures": json.dumps(stored.temperatures.record()),
    }


class _Graph:
    """Collects the nodes and the constants of a graph; each method returns the name of its value."""

    def __init__(self, reader: GatedAttentionInNumpy, stored: Stored) -> None:
        self.reader, self.config, self.stored = reader, reader.config, stored
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}

    def whole(self) -> Any:
        self.log_probabilities()
        width = self.stored.collator.width
        unused = CHARACTERS * (not self.config.characters) + ("words_present",) * (self.config.pointer == "sum")
        unused += ("quoted",) * (not self.config.quotation_feature)
        used = [name for name in INPUTS if name not in unused]
        inputs = [
            helper.make_tensor_value_info(name, kind, [width if size == 0 else size for size in shape])
            for name, (kind, shape) in ((name, INPUTS[name]) for name in used)
        ]
        inputs.append(helper.make_tensor_value_info(TEMPERATURE, FLOAT, ["B"]))
        output = helper.make_tensor_value_info(OUTPUT, FLOAT, ["B", "C"])
        return helper.make_graph(self.nodes, "gated-attention", inputs, [output], list(self.constants.values()))

    def log_probabilities(self) -> None:
        """`GatedAttentionInNumpy.__call__`, line by line."""
        config = self.config
        tokens = self.embed()  # (types, E)
        inputs = self.add("Gather", tokens, "document")  # (B, D, E)   X^(0)
        query = self.add("Gather", tokens, "query")  # (B, Q, E)   Y
        for k in range(config.hops - 1):
            inputs, _ = self.gru(f"document_grus.{k}", inputs, "document_mask")  # (B, D, 2H)  D^(k), eq. 2
            if self.reader.is_gated:
                inputs = self.gate(inputs, *self.gru(f"query_grus.{k}", query, "query_mask"))  # X^(k), eqs. 3 to 6
        if features := self.features():
            inputs = self.add("Concat", inputs, *features, axis=-1)
        states, _ = self.gru(f"document_grus.{config.hops - 1}", inputs, "document_mask")  # (B, D, 2H)  D^(K)
        last = config.hops - 1 if self.reader.is_gated else 0
        query_states, ends = self.gru(f"query_grus.{last}", query, "query_mask")  # (B, Q, 2H)  Q^(K)
        if config.cloze == "blank":
            blank = self.add("Unsqueeze", "placeholder", self.ints(1))  # (B, 1)
            ends = self.add("GatherND", query_states, blank, batch_dims=1)  # (B, 2H)  q_ℓ
        cloze = self.add("Unsqueeze", ends, self.ints(2))  # (B, 2H, 1)
        scores = self.add("MatMul", states, cloze)  # (B, D, 1)  eq. 7, before the softmax
        rows = self.add("Transpose", scores, perm=[0, 2, 1])  # (B, 1, D)
        masses = self.add("Where", "occurrence", rows, self.minus_infinity())  # (B, C, D)
        candidates = self.log_sum(masses)  # (B, C)
        if config.pointer == "mean":
            candidates = self.add("Sub", candidates, self.add("Log", self.add("Cast", "words_present", to=FLOAT)))
        candidates = self.normalised(candidates)  # (B, C)  log Pr(c|d,q), eq. 8
        temperature = self.add("Unsqueeze", TEMPERATURE, self.ints(1))  # (B, 1)
        self.normalised(self.add("Div", candidates, temperature), OUTPUT)

    def embed(self) -> str:
        """L(w), or L(w) ‖ C(w): (types, E)."""
        table = self.stored.words
        if isinstance(table, PackedTable):
            numbers, scales = (
                self.add("Cast", self.add("Gather", self.constant(name, part), "known"), to=FLOAT)
                for name, part in (("words", np.asarray(table.numbers)), ("word_scales", np.asarray(table.scales)))
            )
            known = self.add("Mul", numbers, scales)
        else:
            known = self.add("Gather", self.constant("words", np.asarray(table, np.float32)), "known")
        vectors = self.add("Concat", known, "unknown", axis=0)
        if not self.config.characters:
            return vectors
        letters = self.add("Gather", self.weight("embed.characters.table"), "characters")  # (types, N, 25)
        _, ends = self.gru("embed.characters.gru", letters, "character_mask")  # (types, 50)
        weight, bias = self.weight("embed.characters.weight"), self.weight("embed.characters.bias")
        return self.add("Concat", vectors, self.add("Gemm", ends, weight, bias, transB=1), axis=-1)

    def gru(self, name: str, sequence: str, mask: str) -> tuple[str, str]:
        """The Bi-GRU of that name: (B, T, inputs), (B, T) → its states (B, T, 2H), and its final ones (B, 2H).

        ONNX has the gates in the order z, r, h̃, and its z keeps the old state. The paper's z takes the new one, and
        1 − σ(x) = σ(−x): its weights change their sign. Its reset gate acts before the product
        (`linear_before_reset = 0`); cuDNN's acts after it, and its z is that of ONNX.
        """
        paper = self.config.cell == "paper"
        parts = [self.reader.weights[f"{name}.{part}"] for part in ("input_weight", "recurrent_weight", "bias")]
        hidden = parts[1].shape[1]
        sign = np.float32(-1 if paper else 1)

        def ordered(array: NDArray[Any]) -> NDArray[np.float32]:
            r, z, new = np.split(array, 3, axis=-1)
            return np.concatenate([sign * z, r, new], axis=-1)

        inputs, recurrent = (
            self.constant(f"{name}.{label}", ordered(part).transpose(0, 2, 1))
            for label, part in zip(("W", "R"), parts[:2], strict=True)
        )
        biases = np.concatenate([ordered(parts[2][:, 0, 0]), np.zeros((2, 3 * hidden), np.float32)], axis=-1)
        lengths = self.add("ReduceSum", self.add("Cast", mask, to=TensorProto.INT32), self.ints(1), keepdims=0)
        steps = self.add("Transpose", sequence, perm=[1, 0, 2])  # (T, B, inputs)
        states, ends = f"{name}.Y", f"{name}.Y_h"
        values = [steps, inputs, recurrent, self.constant(f"{name}.B", biases), lengths]
        kind = {"direction": "bidirectional", "hidden_size": hidden, "linear_before_reset": 0 if paper else 1}
        self.nodes.append(helper.make_node("GRU", values, [states, ends], name=name, **kind))
        both = self.add("Transpose", states, perm=[2, 0, 1, 3])  # (B, T, 2, H)
        final = self.add("Transpose", ends, perm=[1, 0, 2])  # (B, 2, H)
        flat = self.add("Reshape", final, self.ints(0, 2 * hidden))
        return self.add("Reshape", both, self.ints(0, 0, 2 * hidden)), flat

    def gate(self, document: str, query: str, ends: str) -> str:
        """X = GA(D, Q): (B, D, 2H), (B, Q, 2H), (B, 2H) → (B, D, 2H or 4H)."""
        if self.config.query_attention == "token":
            match = self.add("MatMul", document, self.add("Transpose", query, perm=[0, 2, 1]))  # (B, D, Q)
            real = self.add("Unsqueeze", "query_mask", self.ints(1))
            alpha = self.add("Softmax", self.add("Where", real, match, self.minus_infinity()), axis=-1)  # eq. 5
            vectors = self.add("MatMul", alpha, query)
        else:
            vectors = self.add("Unsqueeze", ends, self.ints(1))  # (B, 1, 2H)
            vectors = self.add("Expand", vectors, self.add("Shape", document))
        if self.config.gate == "concatenate":
            return self.add("Concat", document, vectors, axis=-1)
        return self.add({"multiply": "Mul", "add": "Add"}[self.config.gate], document, vectors)  # eq. 6

    def features(self) -> list[str]:
        """The embedded features of document tokens that the settings ask for: (B, D, 2) each."""
        values: dict[str, Callable[[], str]] = {
            "feature": lambda: self.in_part("query_mask"),
            "before_feature": lambda: self.in_part(self.query_side("Less")),
            "after_feature": lambda: self.in_part(self.query_side("Greater")),
            "candidate_feature": lambda: self.any(self.add("Cast", "occurrence", to=INT), 1),
            "mentions_feature": self.mention_count,
            "distance_feature": self.distance_to_end,
            "quotation_feature": lambda: self.add("Cast", "quoted", to=INT),
        }
        return [
            self.add("Gather", self.weight(name if name == "feature" else f"more_features.{name}"), values[name]())
            for name in ["feature"] * self.config.feature + chosen(self.config)
        ]

    def in_part(self, part: str) -> str:
        """1 for document words in a part of the query, given by a mask (B, Q): (B, D)."""
        document = self.add("Unsqueeze", "document", self.ints(2))
        query = self.add("Unsqueeze", "query", self.ints(1))
        same = self.add("And", self.add("Equal", document, query), self.add("Unsqueeze", part, self.ints(1)))
        return self.any(self.add("Cast", same, to=INT), 2)

    def query_side(self, comparison: str) -> str:
        """The mask of the query before its blank (Less) or after it (Greater): (B, Q)."""
        counts = self.add("CumSum", self.add("Cast", "query_mask", to=INT), self.constant("one", np.array(1)))
        places = self.add("Sub", counts, self.ints(1))
        side = self.add(comparison, places, self.add("Unsqueeze", "placeholder", self.ints(1)))
        return self.add("And", "query_mask", side)

    def mention_count(self) -> str:
        """⌊log₂(1 + n)⌋, at most 7, for a word of a candidate with n mentions, else 0: (B, D)."""
        occurrence = self.add("Cast", "occurrence", to=INT)
        counts = self.add("ReduceSum", occurrence, self.ints(2), keepdims=1)  # (B, C, 1)
        steps = self.add("GreaterOrEqual", counts, self.ints(*(2**power - 1 for power in range(1, ROWS))))
        values = self.add("ReduceSum", self.add("Cast", steps, to=INT), self.ints(2), keepdims=1)  # (B, C, 1)
        return self.any(self.add("Mul", values, occurrence), 1)

    def distance_to_end(self) -> str:
        """⌊log₂(1 + n)⌋, at most 7, for a word with n words after it: (B, D)."""
        real = self.add("Cast", "document_mask", to=INT)
        length = self.add("ReduceSum", real, self.ints(1), keepdims=1)  # (B, 1)
        after = self.add("Sub", length, self.add("CumSum", real, self.constant("one", np.array(1))))  # (B, D)
        steps = self.ints(*(2**power - 1 for power in range(1, ROWS)))
        values = self.add("GreaterOrEqual", self.add("Unsqueeze", after, self.ints(2)), steps)  # (B, D, 7)
        return self.add("ReduceSum", self.add("Cast", values, to=INT), self.ints(2), keepdims=0)

    def any(self, values: str, axis: int) -> str:
        return self.add("ReduceMax", values, axes=[axis], keepdims=0)

    def log_sum(self, values: str) -> str:
        """log Σ exp over the last dimension; −inf for a row of −inf."""
        top = self.finite(self.add("ReduceMax", values, axes=[-1], keepdims=1))
        total = self.add("ReduceSum", self.add("Exp", self.add("Sub", values, top)), self.ints(-1), keepdims=0)
        return self.add("Add", self.add("Log", total), self.add("Squeeze", top, self.ints(-1)))

    def normalised(self, values: str, name: str | None = None) -> str:
        """The values minus their log Σ exp, which is 0 for a row of −inf."""
        total = self.add("Unsqueeze", self.log_sum(values), self.ints(-1))
        return self.add("Sub", values, self.finite(total), output=name)

    def finite(self, values: str) -> str:
        zero = self.constant("zero", np.array(0, np.float32))
        return self.add("Where", self.add("IsInf", values), zero, values)

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        output = output or f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def weight(self, name: str) -> str:
        return self.constant(name, self.reader.weights[name])

    def minus_infinity(self) -> str:
        return self.constant("minus_infinity", np.array(-np.inf, np.float32))

    def ints(self, *values: int) -> str:
        """A list of whole numbers, for axes and shapes."""
        return self.constant(f"ints_{'_'.join(map(str, values))}", np.array(values, np.int64))

    def constant(self, name: str, array: NDArray[Any]) -> str:
        """A constant, made once for each name."""
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name


def feeds(batch: Batch[Arrays], temperatures: Sequence[float], names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The inputs of these names: the arrays of a batch, and the temperature of each question."""
    values = {**vars(batch.types), **vars(batch), TEMPERATURE: np.array(temperatures, np.float32)}
    return {name: values[name] for name in names}
