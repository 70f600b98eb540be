"""Prepared corpora: what goes in comes out, whole or not at all, in memory that does not grow; broken files too."""

import errno
import os
import random
import re
import resource
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import synthetic
from gareader.core.errors import CorpusError, StoreError
from gareader.data import corpora
from gareader.data.addresses import is_prepared
from gareader.data.corpora.delta import deltas_of, overlap
from gareader.data.examples import PLACEHOLDER, Example
from gareader.data.sources import read_examples
from gareader.data.store import PreparedCorpus, encoding, layout, prepare, prepare_corpus, writing
from places import PROJECT, SAMPLES

CBT = SAMPLES / "cbt.txt"
FIRST = Example("a", ("Tom", "met", "Ann"), ("who", PLACEHOLDER), (("Tom",), ("Ann", "Lee")), 1)
SECOND = Example("b", ("met", "Ann", "Zoë", "."), (PLACEHOLDER,), (("Zoë",), ("Tom",), (".",)), None)
EXAMPLES = [FIRST, SECOND]

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"))
some = st.lists(words | st.sampled_from("abc"), min_size=1, max_size=4).map(tuple)


@st.composite
def examples(draw):
    """Examples whose documents are windows that move over one text, stand still or jump, as those of a book do."""
    text = draw(st.lists(words | st.sampled_from("ab"), min_size=1, max_size=60))
    rows = []
    document = None
    for _ in range(draw(st.integers(0, 8))):
        if document is None or draw(st.booleans()):
            start = draw(st.integers(0, len(text) - 1))
            document = tuple(text[start : start + draw(st.integers(1, 40))])
        query = [word for word in draw(some) if word != PLACEHOLDER]
        query.insert(draw(st.integers(0, len(query))), PLACEHOLDER)
        candidates = tuple(draw(st.lists(some, min_size=2, max_size=4)))
        answer = draw(st.none() | st.integers(0, len(candidates) - 1))
        rows.append(Example(draw(words), document, tuple(query), candidates, answer))
    return rows


def test_an_answer_of_which_only_function_words_are_in_the_document_cannot_be_found(tmp_path):
    rows = [
        Example(str(number), tuple(document.split()), (PLACEHOLDER,), (tuple(answer.split()), ("x",)), 0)
        for number, (document, answer) in enumerate(
            [("sound of music", "Bank of England"), ("a bank of England", "Bank of England"), ("sound of music", "of")]
        )
    ]
    assert prepare(rows, tmp_path / "corpus.arrow").answerable().tolist() == [False, True, True]


@given(examples(), st.sampled_from([1, 30, 1 << 20]), st.sampled_from([1, 30, 1 << 28]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_prepare_then_read(tmp_path, monkeypatch, examples, words_per_batch, characters_per_batch):
    monkeypatch.setattr(encoding, "WORDS_PER_BATCH", words_per_batch)
    monkeypatch.setattr(encoding, "CHARACTERS_PER_BATCH", characters_per_batch)
    corpus = prepare(iter(examples), tmp_path / "corpus.arrow")
    assert list(corpus) == examples
    assert [corpus[i] for i in reversed(range(len(corpus)))] == examples[::-1]
    assert corpus.document_lengths.tolist() == [len(example.document) for example in examples]
    used = {w for e in examples for part in (e.document, e.query, *e.candidates) for w in part}
    assert len(corpus.words) == len(used)
    assert set(corpus.words) == used


@pytest.mark.parametrize(
    ("before", "document", "known"),
    [
        ("abcdefghij", "abcdefghij", 10),
        ("xxabcdefghij", "abcdefghijkl", 10),
        ("abcdefgh-abcdefgh", "abcdefghi", 8),  # the first place that looks right is not
        ("aaaaaaaaaaaa", "aaaaaaaaab", 9),
        ("abcdefghij", "abcdefgh", 0),  # inside, but not to the end
        ("xabcdefg", "abcdefgh", 0),  # too few to be worth it
        ("", "abc", 0),
    ],
)
def test_words_shared_with_the_document_before(before, document, known):
    assert overlap(tuple(before), tuple(document)) == known


def test_documents_that_repeat_themselves_are_not_compared_over_and_over():
    class Word(str):
        compared = 0

        def __eq__(self, other):
            Word.compared += 1
            return super().__eq__(other)

        __hash__ = str.__hash__

    before, document = [Word("a") for _ in range(2000)], [Word("a") for _ in range(2000)]
    before.append(Word("b"))
    assert overlap(tuple(before), tuple(document)) == 0
    assert Word.compared < 100_000  # 2,000,000 if every place is tried


def test_neighbouring_windows_are_encoded_once(tmp_path):
    text = tuple(f"w{i}" for i in range(1000))
    windows = [Example(str(i), text[i : i + 500], (PLACEHOLDER,), (("w1",), ("w2",)), 0) for i in range(100)]
    assert sum(delta.new for delta in deltas_of([*windows, windows[-1]])) == 599
    assert list(prepare(windows, tmp_path / "corpus.arrow")) == windows


def test_a_batch_ends_with_a_number_of_words_or_of_characters(monkeypatch):
    monkeypatch.setattr(encoding, "WORDS_PER_BATCH", 6)
    assert [*map(len, encoding.batches(deltas_of(EXAMPLES * 2)))] == [2, 2]
    monkeypatch.setattr(encoding, "CHARACTERS_PER_BATCH", 1)
    assert [*map(len, encoding.batches(deltas_of(EXAMPLES * 2)))] == [1, 1, 1, 1]


def test_a_sequence(tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "WORDS_PER_BATCH", 1)
    corpus = prepare(EXAMPLES, tmp_path / "corpus.arrow")
    assert corpus[-1] == SECOND
    assert corpus[np.int64(0)] == FIRST  # type: ignore[call-overload]  # numpy's numbers are taken as well
    assert corpus[:1] == [FIRST]
    assert corpus[::-1] == [SECOND, FIRST]
    assert corpus.index(SECOND) == 1
    for beyond in (2, -3):
        with pytest.raises(IndexError):
            corpus[beyond]


def test_words_are_in_the_order_in_which_they_are_met(tmp_path):
    corpus = prepare(EXAMPLES, tmp_path / "corpus.arrow")
    assert corpus.words == ("Tom", "met", "Ann", "Zoë", ".", "who", PLACEHOLDER, "Lee")


def test_same_examples_same_bytes(tmp_path):
    for name in ("one", "two"):
        prepare(corpora.read(CBT), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_real_questions(cbt_questions, tmp_path):
    corpus = prepare(corpora.read(cbt_questions.path), tmp_path / "corpus.arrow")
    assert len(corpus) == (2000 if cbt_questions.whole else 40)
    assert list(corpus) == list(corpora.read(cbt_questions.path))


def test_a_pipe_is_no_corpus(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CorpusError, match="this is a pipe, and a corpus is read more than once; write it to a file"):
        read_examples(tmp_path / "pipe")


def test_a_pipe_is_not_prepared(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CorpusError, match="this is a pipe, and a corpus is read more than once; write it to a file"):
        prepare_corpus(tmp_path / "pipe", tmp_path / "corpus.arrow")


@pytest.mark.parametrize("shard", [None, 2])
def test_what_is_in_the_way_is_told_before_the_work(tmp_path, shard):
    out = tmp_path / "out"
    out.touch() if shard else out.mkdir()

    def untouched():
        raise AssertionError("read before the place was looked at")
        yield

    with pytest.raises(StoreError, match="is there already; remove it, or choose another name with --out"):
        prepare(untouched(), out, shard=shard)


def test_an_address_that_is_denied(monkeypatch):
    def denied(*given):
        raise RuntimeError("no credentials")

    monkeypatch.setattr("fsspec.url_to_fs", denied)
    with pytest.raises(
        StoreError, match=r"s3://b/c: cannot be fetched \(no credentials\); check the address and the right"
    ):
        read_examples("s3://b/c")


def test_read_examples_takes_prepared_and_other_files(tmp_path):
    prepare(corpora.read(CBT), tmp_path / "corpus.arrow")
    assert is_prepared(tmp_path / "corpus.arrow")
    assert is_prepared(tmp_path)
    assert not is_prepared(CBT)
    assert not is_prepared(CBT.parent)
    assert list(read_examples(tmp_path / "corpus.arrow")) == list(read_examples(CBT)) == list(corpora.read(CBT))
    with pytest.raises(CorpusError, match="ROOT"):
        list(read_examples(CBT, format="wdw"))
    bad: list[CorpusError] = []
    broken = tmp_path / CBT.name
    broken.write_text(CBT.read_text(encoding="utf-8") + "\n1 no question\n", encoding="utf-8")
    assert list(read_examples(broken, on_bad=bad.append)) == list(corpora.read(CBT))
    assert bad


def interrupted():
    yield from EXAMPLES * 100
    raise KeyboardInterrupt


def out_of_space(*arguments):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("before", [None, b"what was there"])
def test_an_interruption_leaves_nothing_behind(tmp_path, monkeypatch, before):
    monkeypatch.setattr(encoding, "WORDS_PER_BATCH", 100)
    path = tmp_path / "corpus.arrow"
    if before:
        path.write_bytes(before)
    with pytest.raises(KeyboardInterrupt):
        prepare(interrupted(), path)
    monkeypatch.setattr(writing, "_write", out_of_space)
    with pytest.raises(StoreError, match=r"corpus\.arrow: the disk is full; preparing takes up to twice the room"):
        prepare(EXAMPLES, path)
    assert [file.read_bytes() for file in tmp_path.iterdir()] == ([before] if before else [])


def test_a_disk_that_takes_no_more(tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "WORDS_PER_BATCH", 1000)
    allowed = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, allowed[1]))
    try:
        with pytest.raises(StoreError, match=r"corpus\.arrow: cannot write the prepared corpus: .*File too large"):
            prepare(EXAMPLES * 5000, tmp_path / "corpus.arrow")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, allowed)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("example", "message"),
    [
        (Example("x", ("a\nb",), (PLACEHOLDER,), (("a",), ("b",)), 0), "example 'x' has a word with a line break"),
        (Example("x", ("a",), (PLACEHOLDER,), (("a\n",), ("b",)), 0), "example 'x' has a word with a line break"),
        (
            Example("x", ("a\ud800",), (PLACEHOLDER,), (("a",), ("b",)), 0),
            r"arrow: 'a\\ud800' holds half a character",
        ),
        (Example("\udcff", ("a",), (PLACEHOLDER,), (("a",), ("b",)), 0), r"arrow: '\\udcff' holds half a character"),
    ],
)
def test_words_that_cannot_be_written(tmp_path, example, message):
    with pytest.raises(StoreError, match=message):
        prepare([FIRST, example], tmp_path / "corpus.arrow")
    assert not list(tmp_path.iterdir())


def test_no_such_folder(tmp_path):
    with pytest.raises(StoreError, match=r"nowhere/corpus\.arrow: cannot write the prepared corpus: No such file"):
        prepare(EXAMPLES, tmp_path / "nowhere" / "corpus.arrow")


def arrow(schema, path, columns=None):
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        if columns:
            writer.write_batch(pa.record_batch(columns, schema=schema))


def other_version(path):
    PreparedCorpus.open(path)
    schema = pa.ipc.open_file(str(path)).schema
    arrow(schema.with_metadata({layout.VERSION_KEY: b"7"}), path)


@pytest.mark.parametrize(
    ("breakage", "message"),
    [
        (lambda path: path.unlink(), "cannot open the prepared corpus: No such file"),
        (lambda path: path.write_text("1 Tom met Ann ."), "not a prepared corpus; prepare it first"),
        (lambda path: path.write_bytes(b""), "not a prepared corpus; prepare it first"),
        (lambda path: path.write_bytes(path.read_bytes()[:-100]), "is cut off; copy or prepare it again"),
        (lambda path: path.write_bytes(b"ARROW1" + bytes(50) + b"ARROW1"), "is damaged .*; copy or prepare it again"),
        (lambda path: arrow(pa.schema({"id": pa.string()}), path), "an Arrow file, but not a prepared corpus"),
        (lambda path: arrow(pa.schema({"id": pa.string()}, {layout.VERSION_KEY: b"1"}), path), "its columns are not"),
        (other_version, "reads version 1 of prepared corpora, not version 7; prepare the corpus again, or update"),
    ],
)
def test_files_that_are_no_prepared_corpus(tmp_path, breakage, message):
    path = tmp_path / "corpus.arrow"
    prepare(EXAMPLES, path)
    breakage(path)
    with pytest.raises(StoreError, match=rf"corpus\.arrow: .*{message}"):
        PreparedCorpus.open(path)


def test_columns_with_words_of_their_own_are_refused(tmp_path):
    prepare(synthetic.corpus(3, seed=1), tmp_path / "corpus.arrow")
    with pa.ipc.open_file(str(tmp_path / "corpus.arrow")) as file:
        table = file.read_all()
    plain = table.cast(layout.columns(pa.string()))
    with pa.OSFile(str(tmp_path / "other.arrow"), "wb") as file, pa.ipc.new_file(file, layout.PREPARED) as writer:
        writer.write_table(plain.cast(layout.PREPARED))
    with pytest.raises(StoreError, match="its columns do not share their words; prepare the corpus again"):
        PreparedCorpus.open(tmp_path / "other.arrow")


def test_damage_is_an_error_never_a_crash(tmp_path):
    path = tmp_path / "corpus.arrow"
    prepare(EXAMPLES, path)
    whole = path.read_bytes()
    unharmed, told = 0, []
    for place in range(8, len(whole) - 10, 4):
        path.write_bytes(whole[:place] + b"\xff\xff\xff\xff" + whole[place + 4 :])
        try:
            assert list(PreparedCorpus.open(path)) == EXAMPLES, place
            unharmed += 1
        except StoreError as error:
            told.append(str(error))
    assert 0 < unharmed < len(whole) / 8  # padding
    assert all(re.search(r"corpus\.arrow: .+; (copy or )?prepare", each, re.DOTALL) for each in told)


def test_any_byte_that_changes_is_told_or_without_effect(tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "WORDS_PER_BATCH", 4)
    path = tmp_path / "corpus.arrow"
    prepare(EXAMPLES * 2, path)
    whole = path.read_bytes()
    chance = random.Random(7)
    for place in chance.sample(range(len(whole)), 600):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << chance.randrange(8)]) + whole[place + 1 :])
        with suppress(StoreError):
            assert list(PreparedCorpus.open(path)) == EXAMPLES * 2, place


def copied(source, target, *, keep=lambda number: True, checksums=True):
    """Write some batches of a prepared corpus again, with or without their checksums."""
    schema = layout.PREPARED if checksums else layout.PREPARED.with_metadata({layout.VERSION_KEY: layout.VERSION})
    with pa.ipc.open_file(str(source)) as file, pa.ipc.new_file(str(target), schema) as writer:
        for number in filter(keep, range(file.num_record_batches)):
            batch, metadata = file.get_batch_with_custom_metadata(number)
            writer.write_batch(batch, custom_metadata=metadata if checksums else None)


@pytest.mark.parametrize("lost", range(3))
def test_a_batch_that_is_lost_is_told(tmp_path, monkeypatch, lost):
    monkeypatch.setattr(encoding, "WORDS_PER_BATCH", 1)
    prepare([FIRST, SECOND, FIRST], tmp_path / "corpus.arrow")
    copied(tmp_path / "corpus.arrow", tmp_path / "all.arrow")
    assert list(PreparedCorpus.open(tmp_path / "all.arrow")) == [FIRST, SECOND, FIRST]
    copied(tmp_path / "corpus.arrow", tmp_path / "some.arrow", keep=lambda number: number != lost)
    with pytest.raises(StoreError, match="the prepared corpus is damaged"):
        PreparedCorpus.open(tmp_path / "some.arrow").answerable()


def test_a_corpus_of_before_has_no_checksums_and_is_read(tmp_path):
    prepare(EXAMPLES, tmp_path / "corpus.arrow")
    copied(tmp_path / "corpus.arrow", tmp_path / "before.arrow", checksums=False)
    before = PreparedCorpus.open(tmp_path / "before.arrow")
    assert list(before) == EXAMPLES
    assert before.checksum() == PreparedCorpus.open(tmp_path / "corpus.arrow").checksum()


def test_the_checksum_of_a_corpus_is_of_its_examples_however_they_are_cut(tmp_path, monkeypatch):
    whole = prepare(EXAMPLES * 3, tmp_path / "whole.arrow").checksum()
    other = replace(FIRST, answer=0)
    assert prepare([other, *(EXAMPLES * 3)[1:]], tmp_path / "other.arrow").checksum() != whole
    monkeypatch.setattr(encoding, "WORDS_PER_BATCH", 4)
    assert prepare(EXAMPLES * 3, tmp_path / "cut.arrow").checksum() == whole


def test_a_damaged_index_is_no_other_word(tmp_path):
    path = tmp_path / "corpus.arrow"
    prepare(EXAMPLES, path)
    documents = np.array([0, 1, 2, 1, 2, 3, 4], np.int32).tobytes()
    assert path.read_bytes().count(documents) == 1
    path.write_bytes(path.read_bytes().replace(documents, b"\xff\xff\xff\xff" + documents[4:]))
    corpus = PreparedCorpus.open(path)
    with pytest.raises(StoreError, match=r"corpus\.arrow: the prepared corpus is damaged"):
        corpus[0]


MEMORY = """
import sys, time, threading, random
from gareader.data import store
from gareader.data.examples import PLACEHOLDER, Example
from gareader.data.store import encoding

def anonymous():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("RssAnon"))

encoding.WORDS_PER_BATCH = 1 << 16
count, path = int(sys.argv[1]), sys.argv[2]
chance = random.Random(1)
text = tuple(f"w{chance.randrange(5000)}" for _ in range(20000))
peaks = [0.0, 0.0]

def generated():
    for number in range(count):
        start = chance.randrange(len(text) - 400)
        yield Example(str(number), text[start : start + 400], (PLACEHOLDER,), (("w1",), ("w2",)), 0)
        if number % 50 == 0:
            peaks[0] = max(peaks[0], anonymous())

corpus = store.prepare(generated(), path)
for turn, number in enumerate(chance.sample(range(count), count)):
    assert len(corpus[number].document) == 400
    if turn % 50 == 0:
        peaks[1] = max(peaks[1], anonymous())
print(*peaks)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc to see a process's memory")
def test_memory_does_not_grow_with_the_corpus(tmp_path):
    def peaks(count):
        command = [sys.executable, "-c", MEMORY, str(count), str(tmp_path / "corpus.arrow")]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return np.array(done.stdout.split(), float)

    small, large = peaks(2000), peaks(16000)
    assert (tmp_path / "corpus.arrow").stat().st_size > 25_000_000  # MB that must not be in memory
    assert (large - small < 10).all(), (small, large)


PAGE = (PROJECT / "docs" / "data.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
def test_the_examples_of_the_page(code, tmp_path, monkeypatch, capsys):
    for library in ("polars", "datasets"):
        if library in code:
            pytest.importorskip(library, reason=f"needs {library}: make test installs it")
    monkeypatch.chdir(tmp_path)
    prepare(corpora.read(CBT), tmp_path / "corpus.arrow")
    (tmp_path / "questions.txt").write_bytes(CBT.read_bytes())
    exec(compile(code, "data.md", "exec"), {})  # noqa: S102
    first = next(corpora.read(CBT))
    assert " ".join(first.document[:5]) in capsys.readouterr().out
