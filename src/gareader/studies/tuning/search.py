"""Search of a space with Optuna: the next proposal, the pruner, and the importance of settings."""

import random
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.importance import PedAnovaImportanceEvaluator
from optuna.trial import FrozenTrial, TrialState

from gareader.studies.tuning.space import Setting, Space, TrialSettings, Value

FINISHED = (TrialState.COMPLETE, TrialState.PRUNED)
CLAIMED = (*FINISHED, TrialState.RUNNING)
"""The states of trials that have a result, or will have one."""
DRAWS = 50
"""How often the sampler may repeat settings of earlier trials before new ones are chosen at random."""
BEST_SHARE = 0.25
"""A setting is important if it decides whether a trial is in this upper quantile."""


def distribution(setting: Setting) -> BaseDistribution:
    if setting.values:
        return CategoricalDistribution(setting.values)
    if setting.whole:
        return IntDistribution(int(setting.low), int(setting.high), log=setting.log, step=int(setting.step or 1))
    return FloatDistribution(setting.low, setting.high, log=setting.log, step=setting.step)


def distributions(space: Space) -> dict[str, BaseDistribution]:
    return {setting.name: distribution(setting) for setting in space.settings}


def proposal(space: Space, trials: Sequence[FrozenTrial]) -> TrialSettings | None:
    """New settings to try: those of a lost trial first, then a draw of the sampler; None if all have been tried.

    The proposal depends on the seed and the trials alone, so an interrupted sweep continues with the same proposals.
    """
    tried = {_key(space.tidy(trial.params)) for trial in trials if trial.state in CLAIMED}
    for lost in (space.tidy(trial.params) for trial in trials if trial.state == TrialState.FAIL):
        if _key(lost) not in tried:
            return lost
    if space.cells is not None and len(tried) >= space.cells:
        return None
    generator = random.Random(f"{space.sweep.seed} {len(trials)}")  # noqa: S311
    if space.sweep.sampler != "grid":
        for settings in islice(_draws(space, trials, generator.getrandbits(32)), DRAWS):
            if _key(settings) not in tried:
                return settings
    while space.cells:
        if _key(settings := space.cell(generator.randrange(space.cells))) not in tried:
            return settings
    return None


def _key(settings: TrialSettings) -> tuple[Value, ...]:
    return tuple(settings.values())


def _draws(space: Space, trials: Sequence[FrozenTrial], seed: int) -> Iterator[TrialSettings]:
    """Yield draws of the sampler without end; tpe avoids its earlier draws."""
    sampler: optuna.samplers.BaseSampler = optuna.samplers.RandomSampler(seed)
    if space.sweep.sampler == "tpe":
        sampler = optuna.samplers.TPESampler(n_startup_trials=space.sweep.startup, seed=seed)
    scratch = optuna.create_study(direction="maximize", sampler=sampler)
    scratch.add_trials(trial for trial in trials if trial.state in CLAIMED)
    while True:
        yield space.tidy(scratch.ask(distributions(space)).params)


def pruner(space: Space, trials: Sequence[FrozenTrial]) -> optuna.pruners.BasePruner:
    """The pruner of the sweep, given the earlier trials."""
    sweep = space.sweep
    if sweep.pruner == "median":
        return optuna.pruners.MedianPruner(n_startup_trials=sweep.startup, n_warmup_steps=sweep.warm_up)
    complete = [trial for trial in trials if trial.state == TrialState.COMPLETE]
    if sweep.pruner == "none" or len(complete) < max(1, sweep.startup):
        return optuna.pruners.NopPruner()
    # The first complete trial fixes the stages, so they are the same on all machines and after a restart.
    shortest = max(1, sweep.warm_up)
    return optuna.pruners.HyperbandPruner(shortest, max(shortest, complete[0].last_step or 1))


def importance(study: optuna.Study) -> dict[str, float]:
    """The importance of each setting for being among the best trials, summing to 1 (PED-ANOVA); {} if unknown."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        try:
            evaluator = PedAnovaImportanceEvaluator(target_quantile=BEST_SHARE)
            return optuna.importance.get_param_importances(study, evaluator=evaluator)
        except UserWarning:  # too few trials, or all alike
            return {}
