"""Settings of every reader that change its code path, small enough for tests."""

from dataclasses import replace

from gareader.readers import READERS

CHANGES = {
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
        "cudnn cell": {"cell": "cudnn"},
        "no characters": {"characters": False},
        "no feature": {"feature": False},
        "updated words": {"update_words": True},
        "updated words, no characters, whole query": {
            "update_words": True,
            "characters": False,
            "query_attention": "whole",
        },
    },
}

VARIANTS = {
    f"{name}: {label}": (READERS[name], replace(READERS[name].config(hidden=6, dropout=0.0), **change))
    for name, changes in CHANGES.items()
    for label, change in changes.items()
}
