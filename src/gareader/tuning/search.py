"""How Optuna searches a space: what to try next, which trials to give up, and which settings mattered."""

import random
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.importance import PedAnovaImportanceEvaluator
from optuna.trial import FrozenTrial, TrialState

from gareader.tuning.space import Chosen, Setting, Space
from gareader.tuning.toml import Value

FINISHED = (TrialState.COMPLETE, TrialState.PRUNED)
HELD = (*FINISHED, TrialState.RUNNING)
"""The states of trials that have a result, or will have one."""
DRAWS = 50
"""How often a sampler may draw what is known already before something new is taken at random."""
BEST_SHARE = 0.25
"""A setting is important if it decides whether a trial is among this share of the best."""


def distribution(setting: Setting) -> BaseDistribution:
    """The setting as Optuna knows it."""
    if setting.values:
        return CategoricalDistribution(setting.values)
    if setting.whole:
        return IntDistribution(int(setting.low), int(setting.high), log=setting.log, step=int(setting.step or 1))
    return FloatDistribution(setting.low, setting.high, log=setting.log, step=setting.step)


def distributions(space: Space) -> dict[str, BaseDistribution]:
    """All settings as Optuna knows them."""
    return {setting.name: distribution(setting) for setting in space.settings}


def proposal(space: Space, trials: Sequence[FrozenTrial]) -> Chosen | None:
    """What no trial has tried: what a lost one left first, then as the sampler draws; None when all was tried.

    It depends on the seed and the trials alone, so that an interrupted sweep goes on as if nothing had happened.
    """
    tried = {_key(space.tidy(trial.params)) for trial in trials if trial.state in HELD}
    for lost in (space.tidy(trial.params) for trial in trials if trial.state == TrialState.FAIL):
        if _key(lost) not in tried:
            return lost
    if space.cells is not None and len(tried) >= space.cells:
        return None
    chance = random.Random(f"{space.sweep.seed} {len(trials)}")  # noqa: S311
    if space.sweep.sampler != "grid":
        for chosen in islice(_draws(space, trials, chance.getrandbits(32)), DRAWS):
            if _key(chosen) not in tried:
                return chosen
    while space.cells:
        if _key(chosen := space.cell(chance.randrange(space.cells))) not in tried:
            return chosen
    return None


def _key(chosen: Chosen) -> tuple[Value, ...]:
    return tuple(chosen.values())


def _draws(space: Space, trials: Sequence[FrozenTrial], seed: int) -> Iterator[Chosen]:
    """What the sampler would try, again and again; it avoids what it has drawn."""
    sampler: optuna.samplers.BaseSampler = optuna.samplers.RandomSampler(seed)
    if space.sweep.sampler == "tpe":
        sampler = optuna.samplers.TPESampler(n_startup_trials=space.sweep.startup, seed=seed)
    scratch = optuna.create_study(direction="maximize", sampler=sampler)
    scratch.add_trials(trial for trial in trials if trial.state in HELD)
    while True:
        yield space.tidy(scratch.ask(distributions(space)).params)


def pruner(space: Space, trials: Sequence[FrozenTrial]) -> optuna.pruners.BasePruner:
    """What decides whether a trial is given up, given the trials before."""
    sweep = space.sweep
    if sweep.pruner == "median":
        return optuna.pruners.MedianPruner(n_startup_trials=sweep.startup, n_warmup_steps=sweep.warm_up)
    complete = [trial for trial in trials if trial.state == TrialState.COMPLETE]
    if sweep.pruner == "none" or len(complete) < max(1, sweep.startup):
        return optuna.pruners.NopPruner()
    # The stages are fixed by the first finished trial, so that they are the same for all, and after a restart.
    shortest = max(1, sweep.warm_up)
    return optuna.pruners.HyperbandPruner(shortest, max(shortest, complete[0].last_step or 1))


def importance(study: optuna.Study) -> dict[str, float]:
    """How much each setting decides whether a trial is among the best, in all 1 (PED-ANOVA); nothing if unknown."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        try:
            evaluator = PedAnovaImportanceEvaluator(target_quantile=BEST_SHARE)
            return optuna.importance.get_param_importances(study, evaluator=evaluator)
        except UserWarning:  # too few trials, or all alike
            return {}
