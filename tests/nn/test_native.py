"""The native Bi-GRU against the PyTorch one in double precision, its promises about bits, and what replaces it."""

import os
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from threading import Barrier

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import forked
from gareader.kernels import library
from gareader.nn import native
from gareader.nn.gru import CELLS, BiGRU
from kernels.loading import needs_kernel

SETS = library.instruction_sets()
KERNELS = [(number, precision) for number in range(len(SETS)) for precision in library.PRECISIONS]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=[f"{SETS[number]} {name}" for number, name in KERNELS])
TOLERANCES = {"float32": (1e-5, 1e-4), "bf16": (0.02, 0.05)}
"""The largest errors of outputs and gradients, relative to the largest value; a bf16 number has 8 significant bits."""


@dataclass(frozen=True)
class Case:
    batch: int
    steps: int
    inputs: int
    hidden: int
    cell: str = "paper"
    words: int = 0
    """How many distinct words there are; 0: each position has a vector of its own."""
    mask: str = "holes"
    seed: int = 0


@dataclass(frozen=True)
class Problem:
    values: torch.Tensor
    words: torch.Tensor | None
    mask: torch.Tensor
    weights: tuple[torch.Tensor, ...]
    gradient: torch.Tensor
    """That of the output."""
    cell: str


def make_mask(case, generator):
    if case.mask == "full":
        return torch.ones(case.batch, case.steps, dtype=torch.bool)
    if case.mask == "prefix":
        lengths = torch.randint(case.steps + 1, (case.batch, 1), generator=generator)  # 0 is a length too
        return torch.arange(case.steps) < lengths
    mask = torch.rand(case.batch, case.steps, generator=generator) < 0.6
    return mask & (torch.rand(case.batch, 1, generator=generator) < 0.8)  # some rows have no token at all


def make(case):
    generator = torch.Generator().manual_seed(case.seed)

    def random(*shape, scale=1.0):
        return scale * torch.randn(*shape, generator=generator)

    gates = 3 * case.hidden
    return Problem(
        values=random(case.words, case.inputs) if case.words else random(case.batch, case.steps, case.inputs),
        words=torch.randint(case.words, (case.batch, case.steps), generator=generator) if case.words else None,
        mask=make_mask(case, generator),
        weights=(
            random(2, case.inputs, gates, scale=case.inputs**-0.5),
            random(2, case.hidden, gates, scale=case.hidden**-0.5),
            random(2, 1, 1, gates, scale=0.5),
        ),
        gradient=random(case.batch, case.steps, 2 * case.hidden),
        cell=case.cell,
    )


NAMES = "out", "d_values", "d_input_weight", "d_recurrent_weight", "d_bias"


def run(problem, kernel=(0, "float32")):
    """The kernel's output and gradients, in the order of NAMES."""
    values, *weights = (tensor.detach().requires_grad_() for tensor in (problem.values, *problem.weights))
    out = native.bigru(values, problem.words, problem.mask, tuple(weights), problem.cell, *kernel)
    return [out.detach(), *torch.autograd.grad(out, (values, *weights), problem.gradient)]


def module(problem, dtype=torch.float32):
    gru = BiGRU(problem.weights[0].shape[1], problem.weights[1].shape[1], problem.cell)
    with torch.no_grad():
        for parameter, weight in zip(gru.parameters(), problem.weights, strict=True):
            parameter.copy_(weight)
    return gru.to(dtype)


def run_reference(problem):
    """The same from `BiGRU` in double precision, which PyTorch computes."""
    gru, values = module(problem, torch.float64), problem.values.double().requires_grad_()
    out = gru(values, problem.mask, problem.words)
    return [out.detach(), *torch.autograd.grad(out, (values, *gru.parameters()), problem.gradient.double())]


def check_close(actual, expected, tolerance, name="out"):
    error = (actual.double() - expected).abs().max().item() / max(1.0, expected.abs().max().item())
    assert error <= tolerance, f"{name} is off by {error:.2g}"  # NaN is not


def check_same(one, other):
    for name, a, b in zip(NAMES, one, other, strict=True):
        assert torch.equal(a, b), f"{name} differs by {(a - b).abs().max():.2g}"


def check(case):
    problem = make(case)
    expected = run_reference(problem)
    for number, precision in KERNELS:
        actual = run(problem, (number, precision))
        of_outputs, of_gradients = TOLERANCES[precision]
        check_close(actual[0], expected[0], of_outputs, f"out ({SETS[number]}, {precision})")
        for name, found, true in zip(NAMES[1:], actual[1:], expected[1:], strict=True):
            check_close(found, true, of_gradients, f"{name} ({SETS[number]}, {precision})")
        assert (actual[0][~problem.mask] == 0).all()
        if problem.words is None:
            assert (actual[1][~problem.mask] == 0).all()


sizes = st.integers(1, 70)
cases = st.builds(
    Case,
    batch=st.integers(1, 40),
    steps=st.integers(1, 12),
    inputs=sizes,
    hidden=sizes,
    cell=st.sampled_from(sorted(CELLS)),
    mask=st.sampled_from(["full", "prefix", "holes"]),
    seed=st.integers(0, 1000),
)


@needs_kernel
@given(cases)
@settings(max_examples=60, deadline=None)
def test_equals_the_reference(case):
    check(case)


@needs_kernel
@given(cases, st.integers(1, 90))
@settings(max_examples=60, deadline=None)
def test_equals_the_reference_with_distinct_words(case, words):
    check(replace(case, words=words))


# One case beyond each size at which the kernel begins another block (kernels.h), stretch of steps or panel.
BLOCKS = {
    "inputs beyond BLOCK_DEPTH": Case(5, 4, 330, 20),
    "inputs beyond two": Case(3, 3, 700, 9),
    "hidden 128": Case(9, 5, 20, 128),
    "hidden 130": Case(7, 4, 30, 130),
    "inputs beyond BLOCK_WEIGHTS": Case(6, 3, 129, 5),
    "several stretches": Case(13, 75, 6, 7),
    "several stretches of one row": Case(1, 530, 4, 5),
    "words beyond BLOCK_TOKENS": Case(10, 30, 11, 8, words=600),
    "one word everywhere": Case(10, 30, 11, 8, words=1),
    "more slices than groups": Case(75, 2, 5, 6),
}


@needs_kernel
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("mask", ["full", "prefix", "holes"])
@pytest.mark.parametrize("case", BLOCKS.values(), ids=BLOCKS.keys())
def test_equals_the_reference_beyond_blocks(case, mask, cell):
    check(replace(case, mask=mask, cell=cell))


TOGETHER = [
    Case(33, 11, 37, 40, "paper"),
    Case(40, 7, 330, 20, "cudnn"),
    Case(21, 45, 10, 33, "paper", words=300),
    Case(5, 12, 70, 65, "cudnn", words=20, mask="prefix"),
]


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@needs_kernel
@every_kernel
@pytest.mark.parametrize("case", TOGETHER, ids=str)
def test_same_bits_whatever_the_threads(case, kernel, threads):
    problem = make(case)
    alone = run(problem, kernel)
    check_same(alone, run(problem, kernel))
    for count in (2, 3, 5):
        threads(count)
        check_same(alone, run(problem, kernel))


@needs_kernel
@pytest.mark.parametrize("case", [*TOGETHER, *BLOCKS.values()], ids=str)
def test_same_bits_with_and_without_gradients(case):
    problem = make(case)
    for kernel in KERNELS:
        out = native.bigru(problem.values, problem.words, problem.mask, problem.weights, problem.cell, *kernel)
        assert torch.equal(out, run(problem, kernel)[0])


@needs_kernel
def test_same_bits_from_two_callers_at_once(threads):
    threads(2)
    for pair in pairwise(TOGETHER):
        problems = [make(case) for case in pair]
        expected = [run(problem) for problem in problems]
        start = Barrier(2, timeout=60)

        def repeat(problem, start=start):
            start.wait()
            return [run(problem) for _ in range(15)]

        with ThreadPoolExecutor(2) as pool:
            for results, alone in zip(pool.map(repeat, problems), expected, strict=True):
                for result in results:
                    check_same(result, alone)


@needs_kernel
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("words", [0, 9])
def test_rows_do_not_depend_on_their_neighbours(cell, words):
    problem = make(Case(19, 9, 21, 33, cell, words))
    together = native.bigru(problem.values, problem.words, problem.mask, problem.weights, cell)
    for row in range(19):
        some = slice(row, row + 1)
        values, indices = (problem.values, problem.words[some]) if words else (problem.values[some], None)
        alone = native.bigru(values, indices, problem.mask[some], problem.weights, cell)
        check_close(together[some], alone.double(), 1e-6)


@needs_kernel
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("strange", [float("nan"), float("inf"), -1e30])
def test_padding_is_not_read(cell, strange):
    """The reference promises this of outputs alone: NaN times a gradient of 0 is NaN there too."""
    problem = make(Case(11, 8, 7, 9, cell))
    dirty = problem.values.masked_fill(~problem.mask.unsqueeze(-1), strange)
    assert dirty.equal(problem.values) is False
    for kernel in KERNELS:
        clean = native.bigru(problem.values, None, problem.mask, problem.weights, cell, *kernel)
        assert torch.equal(native.bigru(dirty, None, problem.mask, problem.weights, cell, *kernel), clean)
        found = run(replace(problem, values=dirty), kernel)[0]
        assert torch.equal(found, clean)
    reference = module(problem, torch.float64)
    assert torch.equal(reference(dirty.double(), problem.mask), reference(problem.values.double(), problem.mask))


@needs_kernel
@pytest.mark.parametrize("cell", CELLS)
def test_unused_and_padding_words_are_not_read(cell):
    problem = make(Case(11, 8, 7, 9, cell, words=5))
    extra = torch.full((2, 7), float("nan"))
    words = problem.words.masked_fill(~problem.mask, 5)  # 5 stands on padding alone, 6 nowhere
    clean = native.bigru(problem.values, problem.words, problem.mask, problem.weights, cell)
    dirty = native.bigru(torch.cat([problem.values, extra]), words, problem.mask, problem.weights, cell)
    assert torch.equal(dirty, clean)


@needs_kernel
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("scale", [1e4, -1e4, 1e30])
def test_large_inputs_saturate(cell, scale):
    problem = make(Case(9, 7, 13, 10, cell, mask="full"))
    signs = problem.weights[0].sign()  # an odd number of ±1: no sum is near zero, where rounding would decide
    problem = replace(problem, values=problem.values.sign() * scale, weights=(signs, *problem.weights[1:]))
    for kernel in KERNELS:
        out, *gradients = run(problem, kernel)
        assert out.abs().max() <= 1 + 1e-6
        assert out.abs().max() > 0.5
        assert all(gradient.isfinite().all() for gradient in gradients)
        exact = module(problem, torch.float64)(problem.values.double(), problem.mask).detach()
        check_close(out, exact, TOLERANCES[kernel[1]][0])


@needs_kernel
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("words", [0, 30])
def test_nan_is_never_hidden(cell, words):
    problem = make(Case(9, 7, 12, 33, cell, words, mask="prefix", seed=2))
    where = problem.mask.nonzero()[3]
    place = problem.words[tuple(where)] if words else tuple(where)
    problem.values[place] = float("nan")
    real = problem.mask.unsqueeze(-1)
    expected = module(problem, torch.float64)(problem.values.double(), problem.mask, problem.words).isnan() & real
    assert expected[tuple(where)].all()
    assert not expected[problem.mask].all()
    for kernel in KERNELS:
        assert torch.equal(run(problem, kernel)[0].isnan(), expected)  # padding stays zero; the reference has NaN there
        out = native.bigru(problem.values, problem.words, problem.mask, problem.weights, cell, *kernel)
        assert torch.equal(out.isnan(), expected)


@pytest.fixture
def calls(monkeypatch):
    """The tensors of each call of the library, by function."""
    seen = {}
    call = native.call

    def watch(function, shape, *tensors):
        seen[function] = tensors
        call(function, shape, *tensors)

    monkeypatch.setattr(native, "call", watch)
    return seen


@needs_kernel
def test_no_gradient_asked(calls):
    problem = make(TOGETHER[0])
    out = native.bigru(problem.values, problem.words, problem.mask, problem.weights, problem.cell)
    assert out.grad_fn is None
    assert not out.requires_grad
    assert calls["gru_forward"][-1] is None


@needs_kernel
@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_nothing_is_kept_where_gradients_are_off(calls, mode):
    problem = make(TOGETHER[0])
    with mode():
        out = module(problem)(problem.values, problem.mask)
    assert out.grad_fn is None
    assert calls["gru_forward"][-1] is None  # what a backward pass would need is as large as all gates


@needs_kernel
@pytest.mark.parametrize("case", TOGETHER, ids=str)
def test_gradient_of_weights_alone(calls, case):
    problem = make(case)
    expected = run(problem)
    assert calls["gru_backward"][8] is not None
    weights = tuple(weight.requires_grad_() for weight in problem.weights)
    out = native.bigru(problem.values, problem.words, problem.mask, weights, problem.cell)
    gradients = torch.autograd.grad(out, weights, problem.gradient)
    assert calls["gru_backward"][8] is None  # d_x, the largest product of the backward pass
    check_same(expected, [out, expected[1], *gradients])


@needs_kernel
@pytest.mark.parametrize("words", [0, 12])
def test_views_give_equal_results(words):
    problem = make(Case(6, 5, 9, 7, "paper", words))

    def view(tensor):
        return tensor.transpose(0, 1).contiguous().transpose(0, 1)

    strided = Problem(
        view(problem.values),
        problem.words if problem.words is None else view(problem.words),
        view(problem.mask),
        tuple(weight.mT.contiguous().mT for weight in problem.weights),
        view(problem.gradient),
        problem.cell,
    )
    assert not any(tensor.is_contiguous() for tensor in (strided.values, strided.mask, *strided.weights[:2]))
    check_same(run(problem), run(strided))
    ones = replace(problem, gradient=torch.ones_like(problem.gradient))
    expanded = replace(problem, gradient=torch.ones(()).expand_as(problem.gradient))  # what `out.sum()` sends back
    check_same(run(ones), run(expanded))


@needs_kernel
def test_second_backward_pass():
    problem = make(Case(3, 4, 5, 6))
    gru = module(problem)
    out = gru(problem.values, problem.mask).sum()
    out.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="keeps nothing for a second backward pass; run the forward pass again"):
        out.backward()


@needs_kernel
@pytest.mark.parametrize("word", [-1, 6, 2**40, -(2**62)])
def test_words_out_of_range(word):
    problem = make(Case(3, 4, 5, 6, words=6))
    problem.words[2, 3] = word
    problem.mask[2, 3] = False  # padding is no excuse: PyTorch would not take it either
    with pytest.raises(RuntimeError, match="a word is out of range"):
        module(problem)(problem.values, problem.mask, problem.words)


def rounded(tensor):
    """The nearest bf16 numbers."""
    return tensor.bfloat16().float()


@needs_kernel
@every_kernel
def test_weight_gradients_of_one_token_are_products_of_rounded_numbers(kernel):
    """One product, no sum, and the bias has the other factor: equal to the last bit, also halfway between numbers."""
    problem = make(Case(1, 1, 300, 5, mask="full"))
    halfway = torch.tensor([1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-8, 1 + 2**-8 + 2**-23, 3.3895e38, 1e-30, 0.0, -0.0])
    problem.values[0, 0, :8] = halfway
    problem.weights[0][:, :8] = 0.0
    _, _, found, _, d_bias = run(problem, kernel)
    left, right = problem.values[0, 0], d_bias[:, 0]
    if kernel[1] == "bf16":
        left, right = rounded(left), rounded(right)
    assert torch.equal(found, left[:, None] * right)


@needs_kernel
@every_kernel
@pytest.mark.parametrize("cell", CELLS)
def test_states_of_one_token_are_those_of_rounded_numbers(kernel, cell):
    problem = make(Case(7, 1, 75, 33, cell, mask="full"))
    weights = problem.weights
    if kernel[1] == "bf16":
        exact = replace(problem, values=rounded(problem.values), weights=(*map(rounded, weights[:2]), weights[2]))
    else:
        exact = problem
    found, expected = run(problem, kernel), run(exact)
    check_close(found[0], expected[0].double(), 1e-6)
    check_close(found[4], expected[4].double(), 1e-6)


@needs_kernel
def test_the_precision_is_chosen_for_what_is_computed_inside():
    problem = make(Case(3, 4, 5, 6))
    gru, values = module(problem), problem.values.clone().requires_grad_()
    with native.products_in("bf16"):
        out = gru(values, problem.mask)
    gradients = torch.autograd.grad(out, (values, *gru.parameters()), problem.gradient)  # outside
    check_same([out, *gradients], run(problem, (0, "bf16")))
    assert torch.equal(gru(values, problem.mask), run(problem)[0])


@needs_kernel
def test_unknown_instruction_set():
    problem = make(Case(3, 4, 5, 6))
    with pytest.raises(RuntimeError, match="lacks the instruction set"):
        native.bigru(problem.values, None, problem.mask, problem.weights, "paper", len(SETS))


PREAMBLE = """
import os, signal, sys, torch
from gareader.kernels import library
from gareader.nn import native
from gareader.nn.gru import BiGRU

def compute(batch=9, steps=5, words=0):
    generator = torch.Generator().manual_seed(3)
    gru = BiGRU(50, 40, generator=generator)
    values = torch.randn((words, 50) if words else (batch, steps, 50), generator=generator, requires_grad=True)
    mask = torch.ones(batch, steps, dtype=torch.bool)
    indices = torch.randint(words, (batch, steps), generator=generator) if words else None
    out = gru(values, mask, indices)
    out.square().sum().backward()
    return [out.detach(), values.grad, *(parameter.grad for parameter in gru.parameters())]
"""


def python(script, **environment):
    """Run a script in a process of its own, so that a crash or a deadlock is a failure like any other."""
    env = {name: value or None for name, value in environment.items()}
    return forked.run(PREAMBLE + script, target=forked.execute, env=env)


@pytest.mark.slow
@needs_kernel
def test_empty_batches():
    script = """
for batch, steps in (0, 3), (3, 0), (0, 0):
    for words in 0, 7:
        try:
            results = compute(batch, steps, words)
        except RuntimeError:
            assert steps == 0  # as PyTorch does: there are no states to stack
        else:
            assert results[0].shape == (batch, steps, 80), results[0].shape
            assert all((result == 0).all() for result in results), [result.abs().sum() for result in results]
print("survived")
"""
    done = python(script, GAREADER_GRU="native")
    assert (done.stdout, done.returncode) == ("survived\n", 0), done.stderr[-500:]


@pytest.mark.slow
@needs_kernel
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.parametrize("threads", [1, 2])
def test_survives_fork(threads):
    """OpenMP's threads would hang in the child, with this kernel or without. check.c tests our own pool."""
    script = f"""
torch.set_num_threads({threads})
expected = compute()
child = os.fork()
if child == 0:
    signal.alarm(20)
    os._exit(0 if all(map(torch.equal, compute(), expected)) else 3)
_, status = os.waitpid(child, 0)
assert all(map(torch.equal, compute(), expected)), "the parent"
sys.exit(os.waitstatus_to_exitcode(status))
"""
    done = python(script, GAREADER_GRU="native")
    assert done.returncode == 0, f"exit {done.returncode}: {done.stderr}"


def test_double_precision_is_left_to_pytorch(monkeypatch):
    problem = make(Case(3, 4, 5, 6))

    def refuse(*arguments, **options):
        raise AssertionError

    monkeypatch.setattr(native, "bigru", refuse)
    out = module(problem, torch.float64)(problem.values.double(), problem.mask)
    assert out.dtype == torch.float64
    if library.library():
        with pytest.raises(AssertionError):
            module(problem)(problem.values, problem.mask)


CHOSEN = (
    'print("kernel" if "_BiGRU" in str(BiGRU(5, 4)(torch.randn(2, 3, 5), torch.ones(2, 3) > 0).grad_fn) else "PyTorch")'
)


@pytest.mark.slow
def test_environment_chooses_pytorch():
    done = python(CHOSEN, GAREADER_GRU="none")
    assert (done.stdout, done.stderr, done.returncode) == ("PyTorch\n", "", 0)


@pytest.mark.slow
@needs_kernel
@pytest.mark.parametrize("choice", ["native", ""])
def test_environment_chooses_the_kernel(choice):
    done = python(CHOSEN, GAREADER_GRU=choice)
    assert (done.stdout, done.stderr, done.returncode) == ("kernel\n", "", 0)


@pytest.mark.slow
def test_environment_with_an_unknown_choice():
    done = python(CHOSEN, GAREADER_GRU="nonsense")
    assert "ConfigError: GAREADER_GRU = 'nonsense' is not known; use native or none" in done.stderr
    assert done.returncode == 1


def test_without_the_library_pytorch_takes_over(missing_library):
    problem = make(Case(3, 4, 5, 6))
    gru = module(problem)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        out = gru(problem.values, problem.mask)
        gru(problem.values, problem.mask)
    assert [str(warning.message) for warning in caught] == [  # once, not at every call
        "reading without the native kernel, several times slower: no native kernel; "
        "install gareader again on a machine with a C compiler such as gcc"
    ]
    check_close(out, run_reference(problem)[0], 1e-5)
    assert library.instruction_sets() == []
    with pytest.raises(RuntimeError, match="there is no native kernel"):
        native.bigru(problem.values, None, problem.mask, problem.weights, "paper")
