"""Settings of every reader that change its code path, small enough for tests."""

from dataclasses import replace
from typing import Any

from gareader.readers.registry import READERS
from readers import pairs

CHANGES: dict[str, dict[str, Any]] = {
    "gated-attention": {
        "default": {},
        "one hop": {"hops": 1},
        "one hop, no feature": {"hops": 1, "feature": False},
        "two hops": {"hops": 2},
        "four hops": {"hops": 4},
        "add": {"gate": "add"},
        "concatenate": {"gate": "concatenate"},
        "whole query": {"query_attention": "whole"},
        "whole query, concatenate": {"query_attention": "whole", "gate": "concatenate"},
        "no query attention": {"query_attention": "none"},
        "no query attention, concatenate, no feature": {
            "query_attention": "none",
            "gate": "concatenate",
            "feature": False,
        },
        "mean of a candidate's words": {"pointer": "mean"},
        "cudnn cell": {"cell": "cudnn"},
        "no characters": {"characters": False},
        "no feature": {"feature": False},
        "all features": {
            "before_feature": True,
            "after_feature": True,
            "candidate_feature": True,
            "mentions_feature": True,
            "distance_feature": True,
            "quotation_feature": True,
        },
        "one hop, candidate feature alone": {"hops": 1, "feature": False, "candidate_feature": True},
        "GA--": {"query_attention": "whole", "cloze": "ends", "characters": False, "feature": False},
        "updated words": {"update_words": True},
        "updated words, no characters, whole query": {
            "update_words": True,
            "characters": False,
            "query_attention": "whole",
        },
    },
    "deep-lstm": {
        "default": {},
        "one layer": {"layers": 1},
        "query first, three layers": {"query_first": True, "layers": 3},
        "fixed words": {"update_words": False},
    },
    "attentive": {"default": {}, "fixed words": {"update_words": False}},
    "impatient": {"default": {}, "fixed words": {"update_words": False}},
    "memory": {"default": {}, "seven words": {"window": 7}},
    "attention-sum": {"default": {}, "fixed words": {"update_words": False}},
    "der": {"default": {}, "fixed words": {"update_words": False}},
    "stanford": {"default": {}, "paper cell": {"cell": "paper"}, "fixed words": {"update_words": False}},
    "iterative": {
        "default": {"inference_hidden": 10},
        "three glimpses": {"inference_hidden": 10, "glimpses": 3},
        "fixed words": {"inference_hidden": 10, "update_words": False},
    },
    "epireader": {
        "default": {"filters": 5, "sentence_states": 4},
        "two extracted": {"filters": 5, "sentence_states": 4, "extracted": 2},
        "fixed words": {"filters": 5, "sentence_states": 4, "update_words": False},
    },
    "aoa": {"default": {}, "fixed words": {"update_words": False}},
    "reasonet": {
        "default": {"projection": 24},
        "two steps": {"projection": 24, "steps": 2},
        "fixed words": {"projection": 24, "update_words": False},
    },
    "nse": {
        "default": {"steps": 3},
        "gating": {"steps": 3, "control": "gating"},
        "one step": {"steps": 1},
        "fixed words": {"steps": 2, "update_words": False},
    },
    "bidaf": {"default": {"window": 7}, "nineteen words": {}, "updated words": {"window": 7, "update_words": True}},
    "lstm-lm": {"default": {}, "fixed words": {"update_words": False}},
}

LEARNING: dict[str, dict[str, Any]] = {
    # Where each candidate stands once, an answer that is named, not pointed at, teaches nothing before attention finds
    # it, and the other way round: these learn pairs alone, from larger first weights: sixteen numbers a word are few.
    "deep-lstm": {"corpus": pairs.corpus, "updates": 300, "settings": {"init_std": 0.5}},
    "attentive": {"corpus": pairs.corpus, "settings": {"init_std": 0.5}},
    "impatient": {"corpus": pairs.corpus, "updates": 200, "settings": {"init_std": 0.5}},
    "stanford": {"corpus": pairs.corpus, "settings": {"init_bound": 0.3}},
    # A thing stands three words behind its owner, beyond a window of five; sixteen numbers leave two for each of seven
    # places, and only windows that are wrong teach.
    "memory": {"rate": 0.05, "settings": {"window": 7}},
    # What is said of an entity reaches the answer through two readings, two attentions and a maximum.
    "der": {"updates": 240, "settings": {"word_scale": 0.2}},
    # Small first vectors of sixteen numbers are too little to go by.
    "attention-sum": {"settings": {"word_scale": 1.0}},
    "iterative": {"settings": {"word_scale": 1.0}},
    "epireader": {"settings": {"word_scale": 1.0}},
    "aoa": {"settings": {"word_scale": 1.0}},
    # Its first weights are so small that every word looks alike at first.
    "reasonet": {"rate": 0.02, "updates": 200},
    # The answer hangs on two LSTMs, and on a query memory that is far from any word at first.
    "nse": {"rate": 0.005, "updates": 320},
    # Three LSTMs one upon the other: at 0.01 it does not leave a guess.
    "bidaf": {"rate": 0.003, "updates": 220},
    # It has no attention, and of 26 words only one tells it that a pair was worth remembering: of the larger corpus it
    # learns in 8,000 updates who is left, and not who has what.
    "lstm-lm": {"corpus": pairs.corpus, "updates": 600},
}
"""Readers that learn the synthetic corpus otherwise than at the rate of 0.01 in 100 updates, and why."""

VARIANTS = {
    f"{name}: {label}": (READERS[name], replace(READERS[name].config(hidden=6, dropout=0.0), **change))  # type: ignore[call-arg]
    for name, changes in CHANGES.items()
    for label, change in changes.items()
}
