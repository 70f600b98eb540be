"""Native gated attention against the PyTorch one in double precision, its promises about bits, and what replaces it."""

import warnings
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gareader.kernels import library
from gareader.nn import native
from gareader.nn.dropout import Dropout
from gareader.nn.gated_attention import GATES, GatedAttention, token_attention

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    SETS = library.instruction_sets()
KERNELS = [(number, precision) for number in range(len(SETS)) for precision in library.PRECISIONS]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=[f"{SETS[number]} {name}" for number, name in KERNELS])
needs_kernel = pytest.mark.skipif(not SETS, reason=f"needs the native kernel: {library.LIBRARY} was not built")


@dataclass(frozen=True)
class Case:
    batch: int
    tokens: int
    asked: int
    width: int
    dropped: int = 0
    seed: int = 0


@dataclass(frozen=True)
class Problem:
    document: torch.Tensor
    query: torch.Tensor
    mask: torch.Tensor
    draws: torch.Tensor | None
    dropped: int
    gradient: torch.Tensor


def make(case):
    generator = torch.Generator().manual_seed(case.seed)
    document = torch.randn(case.batch, case.tokens, case.width, generator=generator)
    mask = torch.rand(case.batch, case.asked, generator=generator) < 0.7
    mask[:, 0] = True
    draws = torch.randint(-(2**15), 2**15, document.shape, generator=generator, dtype=torch.int16)
    return Problem(
        document,
        torch.randn(case.batch, case.asked, case.width, generator=generator) * case.width**-0.5,
        mask,
        draws if case.dropped else None,
        case.dropped,
        torch.randn(document.shape, generator=generator),
    )


def run(problem, kernel=(0, "float32")):
    """α, the output, and the gradients of document and query."""
    document, query = problem.document.clone().requires_grad_(), problem.query.clone().requires_grad_()
    out, alpha = native.gated_attention(document, query, problem.mask, problem.draws, problem.dropped, *kernel)
    return [alpha, out.detach(), *torch.autograd.grad(out, (document, query), problem.gradient)]


def run_reference(problem):
    """The same in double precision, by PyTorch."""
    document, query = problem.document.double().requires_grad_(), problem.query.double().requires_grad_()
    view, alpha = token_attention(document, query, problem.mask)
    out = GATES["multiply"](document, view)
    if problem.draws is not None:
        out = out * (problem.draws >= problem.dropped - 2**15) * (2**16 / (2**16 - problem.dropped))
    return [alpha.detach(), out.detach(), *torch.autograd.grad(out, (document, query), problem.gradient.double())]


CASES = st.builds(
    Case,
    batch=st.integers(1, 5),
    tokens=st.integers(1, 150),
    asked=st.integers(1, 70),
    width=st.integers(1, 140),
    dropped=st.sampled_from([0, 1, 26214, 65535]),
    seed=st.integers(0, 2**16),
)


TOLERANCES = {
    "float32": (1e-5, {"alpha": 1e-6, "out": 1e-5, "d_document": 1e-4, "d_query": 1e-4}),
    "bf16": (0.03, {"alpha": 0.01, "out": 0.05, "d_document": 0.1, "d_query": 0.3}),
}
"""The largest errors, relative and absolute; a bf16 number has 8 significant bits."""


@needs_kernel
@every_kernel
@given(case=CASES)
@settings(max_examples=40, deadline=None)
def test_the_kernel_computes_what_the_equations_say(kernel, case):
    problem = make(case)
    found, expected = run(problem, kernel), run_reference(problem)
    scale = 1.0 if problem.draws is None else 2**16 / (2**16 - problem.dropped)
    relative, limits = TOLERANCES[kernel[1]]
    for name, one, other in zip(("alpha", "out", "d_document", "d_query"), found, expected, strict=True):
        limit = limits[name] * (1.0 if name == "alpha" else scale)
        torch.testing.assert_close(one.double(), other, rtol=relative, atol=limit, msg=name.__add__)


@needs_kernel
@every_kernel
@pytest.mark.parametrize("case", [Case(1, 700, 27, 64, 26214), Case(7, 130, 5, 33), Case(32, 3, 40, 8, 26214)])
def test_the_same_bits_whatever_the_number_of_threads(case, kernel):
    problem, before = make(case), torch.get_num_threads()
    try:
        results = []
        for threads in (1, 2, 3, 5):
            torch.set_num_threads(threads)
            results.append(run(problem, kernel))
    finally:
        torch.set_num_threads(before)
    for other in results[1:]:
        assert all(torch.equal(one, same) for one, same in zip(results[0], other, strict=True))


@needs_kernel
def test_a_document_is_read_the_same_alone_as_in_a_batch():
    problem = make(Case(4, 100, 20, 30))
    together = native.gated_attention(problem.document, problem.query, problem.mask, None, 0)[0]
    for b in range(4):
        one = slice(b, b + 1)
        alone = native.gated_attention(problem.document[one], problem.query[one], problem.mask[one], None, 0)[0]
        assert torch.equal(alone, together[one])


@needs_kernel
def test_scores_far_apart():
    """The largest and the smallest there are: no overflow, no NaN."""
    document = torch.tensor([[[1.0, 0.0], [-1.0, 0.0]]])
    query = torch.tensor([[[3e30, 1.0], [-3e30, 2.0], [90.0, 3.0]]])
    mask = torch.ones(1, 3, dtype=torch.bool)
    _, alpha = native.gated_attention(document, query, mask, None, 0)
    assert alpha.tolist() == [[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]


@needs_kernel
def test_what_a_masked_word_holds_changes_nothing():
    problem = make(Case(3, 20, 12, 10))
    dirty = problem.query.masked_fill(~problem.mask.unsqueeze(2), 1e20)
    clean = native.gated_attention(problem.document, problem.query, problem.mask, None, 0)
    for one, other in zip(native.gated_attention(problem.document, dirty, problem.mask, None, 0), clean, strict=True):
        assert torch.equal(one, other)


@needs_kernel
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"query": torch.zeros(2, 3, 5)}, r"query: torch.float32 of \(2, 3, 5\) where torch.float32 of \(2, 3, 4\)"),
        ({"mask": torch.ones(2, 2, dtype=torch.bool)}, "query mask"),
        ({"mask": torch.ones(2, 3)}, "query mask: torch.float32"),
        ({"draws": torch.zeros(2, 6, 4, dtype=torch.int16)}, "draws"),
        ({"document": torch.zeros(2, 7, 4, dtype=torch.float64)}, "document: torch.float64"),
    ],
)
def test_tensors_of_another_shape_or_kind_are_refused(change, message):
    given_: dict[str, Any] = {
        "document": torch.zeros(2, 7, 4),
        "query": torch.zeros(2, 3, 4),
        "mask": torch.ones(2, 3, dtype=torch.bool),
        "draws": None,
    }
    document, query, mask, draws = {**given_, **change}.values()
    with pytest.raises(ValueError, match=message):
        native.gated_attention(document, query, mask, draws, 0)


@needs_kernel
def test_the_module_asks_the_kernel_where_it_can(monkeypatch):
    calls: list[str] = []
    call = native.call

    def counted(function, *rest):
        calls.append(function)
        call(function, *rest)

    monkeypatch.setattr(native, "call", counted)
    problem = make(Case(2, 9, 5, 6))
    arguments = problem.document, problem.query, problem.mask

    def asked(query_attention="token", gate="multiply", attention=False, tensors=arguments):
        calls.clear()
        GatedAttention(query_attention, gate, 0.0)(*tensors, attention=attention)
        return bool(calls)

    assert asked()
    assert not asked(gate="add")
    assert not asked("whole")
    assert not asked(attention=True)  # its α has no gradient
    with torch.no_grad():
        assert asked(attention=True)
    assert not asked(tensors=(problem.document.double(), problem.query.double(), problem.mask))


@needs_kernel
def test_the_module_drops_the_same_in_both_ways():
    problem = make(Case(2, 40, 6, 10))
    module = GatedAttention("token", "multiply", 0.4).train()
    torch.manual_seed(7)
    native_out, alpha = module(problem.document, problem.query, problem.mask)
    torch.manual_seed(7)
    out, expected = module.in_pytorch(problem.document, problem.query, problem.mask)
    torch.testing.assert_close(native_out, out)
    torch.testing.assert_close(alpha, expected)
    assert 0.3 < (out == 0).float().mean() < 0.5
    assert torch.equal(module.eval()(problem.document, problem.query, problem.mask)[0] == 0, problem.document == 0)


def test_gradients_through_the_attention_where_it_is_asked_for():
    problem = make(Case(2, 9, 5, 6))
    document = problem.document.clone().requires_grad_()
    _, alpha = GatedAttention("token", "multiply", 0.0)(document, problem.query, problem.mask, attention=True)
    assert torch.autograd.grad(alpha[:, :, 0].sum(), document)[0].abs().max() > 0


def test_a_rate_just_below_one_drops_nearly_everything():
    values = torch.ones(1000)
    dropout = Dropout(1 - 1e-9)
    dropout.train()
    assert (dropout(values) == 0).sum() > 990
