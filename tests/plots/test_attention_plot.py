"""The figure of the attention: which mentions are drawn, what their numbers are, and what stands underneath."""

from io import BytesIO, StringIO
from math import inf, log

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from gareader.core.errors import GareaderError
from gareader.data.examples import PLACEHOLDER, Attention, Example, Prediction
from gareader.plots.attention import (
    MOST_MENTIONS,
    WIDTH,
    CandidateMention,
    Piece,
    attention_figure,
    caption,
    how,
    layout,
    mentions,
    near_blank,
    over_query,
)

DOCUMENT = tuple("Captain Finch met Nell . Finch said : `` Thank Nell ! ''".split())
QUERY = ("@begin", "thank", PLACEHOLDER, "@end")


def predicted(
    document=DOCUMENT,
    candidates=("Nell", "Captain Finch", "nobody"),
    answer=1,
    hops=2,
    probabilities=None,
    query=QUERY,
):
    example = Example("q", document, query[1:-1], tuple(tuple(c.split()) for c in candidates), answer)
    chance = np.random.default_rng(0)
    maps = tuple(chance.dirichlet(np.ones(len(query)), len(document)).astype(np.float32) for _ in range(hops))
    final = chance.dirichlet(np.ones(len(document))).astype(np.float32)
    probabilities = probabilities or (0.7, 0.3, 0.0)
    return Prediction(example, tuple(log(p) if p else -inf for p in probabilities), Attention(query, maps, final))


def test_neighbouring_words_of_a_candidate_are_one_mention():
    found = mentions(predicted().example)
    assert found == [
        CandidateMention(1, 0, 2),
        CandidateMention(0, 3, 4),
        CandidateMention(1, 5, 6),
        CandidateMention(0, 10, 11),
    ]


def test_a_word_of_two_candidates_is_a_mention_of_each_and_one_may_end_the_document():
    example = Example("q", ("Ann", "and", "Mary", "Ann"), (PLACEHOLDER,), (("Ann",), ("Mary", "Ann")), 0)
    assert mentions(example) == [
        CandidateMention(0, 0, 1),
        CandidateMention(1, 0, 1),
        CandidateMention(1, 2, 4),
        CandidateMention(0, 3, 4),
    ]


def test_what_is_drawn():
    prediction = predicted()
    figure = attention_figure(prediction)
    first, second, final = (axes for axes in figure.axes if axes.get_title())
    assert (first.get_title(), second.get_title()) == ("hop 1, over the query", "hop 2, over the query")
    assert [label.get_text() for label in first.get_yticklabels()] == [
        "Captain Finch [1]",
        "Nell [2]",
        "Finch [3]",
        "Nell [4]",
    ]
    assert [label.get_text() for label in first.get_xticklabels()] == ["⊢", "thank", "___", "⊣"]
    one, two = (axes.get_images()[0] for axes in (first, second))
    np.testing.assert_allclose(np.asarray(one.get_array())[0], prediction.attention.hops[0][:2].mean(axis=0))
    np.testing.assert_allclose(np.asarray(two.get_array())[1], prediction.attention.hops[1][3])
    assert one.get_clim() == two.get_clim()  # one scale of colours
    widths = [bar.get_width() for bar in final.patches if isinstance(bar, Rectangle)]
    assert widths[0] == pytest.approx(100 * prediction.attention.document[:2].sum())
    colours = [bar.get_facecolor() for bar in final.patches]
    assert colours[1] == colours[3] != colours[0] == colours[2]  # Nell is the answer given


def test_it_says_how_it_is_read():
    assert caption(predicted(), [], [], 10_000).startswith("How to read it: a row is a mention of a candidate")
    assert "⊢" in how(predicted())
    assert "the more of the mention’s attention is on the word" in how(predicted())
    assert "⊢" not in how(predicted(hops=0))
    from_query = predicted(hops=1)
    hop = from_query.attention.hops[0]
    turned = Attention(QUERY, ((hop / hop.sum(axis=0)).astype(np.float32),), from_query.attention.document)
    from_query = Prediction(from_query.example, from_query.log_probabilities, turned)
    assert "the more of the word’s attention is on the mention" in how(from_query)


def test_if_the_marks_have_nearly_all_of_the_attention_the_colours_show_the_rest():
    prediction = predicted(hops=1)
    hop = np.tile(np.asarray([0.01, 0.03, 0.01, 0.95], dtype=np.float32), (len(DOCUMENT), 1))
    sunk = Prediction(
        prediction.example, prediction.log_probabilities, Attention(QUERY, (hop,), prediction.attention.document)
    )
    (image,) = attention_figure(sunk).axes[0].get_images()
    assert image.get_clim() == pytest.approx((0, 0.03))
    found = mentions(sunk.example)
    told = "The marks ⊢ and ⊣ have 96.0% of the mentions’ attention; the colours show what words have of the rest."
    assert told in caption(sunk, found, found, 1000)
    (image,) = attention_figure(prediction).axes[0].get_images()
    assert image.get_clim()[1] == np.asarray(image.get_array()).max()
    assert "The marks" not in caption(prediction, found, found, 1000)


@pytest.mark.parametrize(("words", "hops", "rows"), [(4, 2, 1), (24, 2, 1), (60, 2, 3), (150, 1, 4), (60, 0, 1)])
def test_the_width_does_not_grow_with_the_query(words, hops, rows):
    assert len(layout(0, words, hops)) == rows
    pieces = [piece for row in layout(0, words, hops) for piece in row if piece]
    covered = [(piece.hop, word) for piece in pieces for word in range(piece.first, piece.end)]
    assert covered == [(hop, word) for hop in range(hops) for word in range(words)]
    query = ("@begin", *["word"] * (words - 3), PLACEHOLDER, "@end")
    prediction = predicted(query=query, hops=hops)
    figure = attention_figure(prediction)
    assert figure.get_size_inches()[0] == WIDTH
    shapes = [
        np.asarray(image.get_array()).shape for axes in figure.axes for image in axes.get_images() if axes.get_title()
    ]
    assert shapes == [(4, piece.end - piece.first) for piece in pieces]


def test_words_of_a_long_query_have_their_numbers_in_the_title():
    figure = attention_figure(predicted(query=("@begin", *["word"] * 97, PLACEHOLDER, "@end"), hops=1))
    titles = [axes.get_title() for axes in figure.axes if axes.get_images()]
    assert titles == ["hop 1, over the query, words 1 to 50", "hop 1, over the query, words 51 to 100"]
    assert layout(0, 100, 1)[1] == [Piece(0, 50, 100)]


def test_of_a_very_long_query_the_words_around_the_blank_are_drawn():
    query = ("@begin", *["word"] * 998, PLACEHOLDER, *["word"] * 1000, "@end")
    assert near_blank(query) == (899, 1099)
    assert near_blank(query[950:]) == (0, 200)
    assert near_blank(query[:1000]) == (800, 1000)
    prediction = predicted(query=query, hops=1)
    found = mentions(prediction.example)
    text = caption(prediction, found, found, 10_000)
    assert text.endswith("Of the 2,001 words of the query the 200 around the blank are drawn.")
    figure = attention_figure(prediction)
    assert figure.axes[0].get_title() == "hop 1, over the query, words 900 to 949"
    assert figure.get_figheight() < 40


def test_attention_from_the_query_is_told_from_attention_over_it():
    hop = predicted().attention.hops[0]
    assert over_query(hop)
    assert not over_query((hop / hop.sum(axis=0)).astype(np.float32))  # each query word's sums to one


def test_a_reader_of_one_hop_has_no_maps():
    figure = attention_figure(predicted(hops=0))
    assert [axes.get_title() for axes in figure.axes if axes.get_title()] == [
        "final attention, %\n(orange: the answer given)"
    ]


def test_of_many_mentions_the_largest_are_drawn_in_their_order():
    document = tuple(("Nell and " * 45).split())
    prediction = predicted(document, candidates=("Nell", "nobody"), answer=0, probabilities=(1.0, 0.0))
    final = next(axes for axes in attention_figure(prediction).axes if axes.get_title().startswith("final"))
    drawn = [bar.get_width() / 100 for bar in final.patches if isinstance(bar, Rectangle)]
    shares = [float(prediction.attention.document[2 * n]) for n in range(45)]
    assert drawn == pytest.approx([share for share in shares if share in sorted(shares)[-MOST_MENTIONS:]])
    every = mentions(prediction.example)
    text = caption(prediction, every, every[:30], 80)
    assert "Drawn: the 30 mentions with most of the attention; 15 more have less." in text


def test_the_caption_has_answer_query_and_numbered_document():
    prediction = predicted()
    found = mentions(prediction.example)
    text = caption(prediction, found, found, 300)
    assert "Answer: Nell 70%,  Captain Finch 30%,  nobody 0%   (right: Captain Finch)" in text
    assert "Query: thank ___\n" in text
    assert "Document: Captain Finch[1] met Nell[2]. Finch[3] said: “Thank Nell[4]!”" in text
    assert max(map(len, caption(prediction, found, found, 40).splitlines())) <= 40


def test_of_a_long_document_only_the_surroundings_are_printed():
    document = (*["far"] * 500, "Nell", *["away"] * 500)
    prediction = predicted(document, candidates=("Nell", "nobody"), answer=None, probabilities=(1.0, 0.0))
    found = mentions(prediction.example)
    text = caption(prediction, found, found, 10_000)
    assert text.count("far") == text.count("away") == 12
    assert "… far" in text
    assert text.endswith("away …")
    assert "right" not in text


def test_the_picture_of_a_very_long_document_is_no_taller():
    document = tuple(("Nell and " * 20_000).split())
    prediction = predicted(document, candidates=("Nell", "nobody"), answer=0, probabilities=(1.0, 0.0))
    assert attention_figure(prediction).get_size_inches()[1] < 20


def test_characters_that_the_font_lacks_are_told_once(tmp_path):
    with pytest.warns(UserWarning, match="font") as told:
        predicted(document=(*DOCUMENT, "王明", "有", "灯")).plot(tmp_path / "figure.png")
    assert [str(each.message) for each in told] == [
        f"{tmp_path / 'figure.png'}: the font of pictures lacks some characters of this text; they are drawn as boxes"
    ]


def test_dollars_are_no_formula(tmp_path):
    document = (*DOCUMENT, *"$ 5 , or 3 % , to $ 60".split())
    prediction = predicted(document, candidates=("$", "Captain Finch", "nobody"), answer=0)
    figure = attention_figure(prediction)
    prediction.plot(tmp_path / "figure.png")
    texts = [text for axes in figure.axes for text in (*axes.texts, *axes.get_yticklabels(), *axes.get_xticklabels())]
    assert not any(text.get_parse_math() for text in texts if "$" in text.get_text())
    assert sum("$" in text.get_text() for text in texts) > 2


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_a_prediction_draws_itself(tmp_path, kind):
    predicted(document=(*DOCUMENT, "Pneumonoultramicroscopicsilicovolcanoconiosis")).plot(tmp_path / f"figure.{kind}")
    assert (tmp_path / f"figure.{kind}").stat().st_size > 5000


def test_what_cannot_be_drawn(tmp_path):
    prediction = predicted()
    with pytest.raises(GareaderError, match="without attention"):
        Prediction(prediction.example, prediction.log_probabilities).plot(tmp_path / "figure.png")
    with pytest.raises(GareaderError, match="no candidate occurs in the document"):
        attention_figure(predicted(candidates=("nobody", "noone"), answer=0, probabilities=(0.5, 0.5)))


def test_plot_takes_a_path_a_buffer_or_nothing(tmp_path):
    prediction = predicted()
    assert prediction.plot().axes[0].get_title() == "hop 1, over the query"
    prediction.plot(tmp_path / "one.svg")
    assert "<svg" in (tmp_path / "one.svg").read_text()
    prediction.plot(str(tmp_path / "two.png"))
    buffers = {kind: BytesIO() for kind in (None, "svg", "pdf")}
    for kind, buffer in buffers.items():
        prediction.plot(buffer, format=kind)
    starts = [buffer.getvalue()[:5] for buffer in buffers.values()]
    assert starts == [b"\x89PNG\r", b"<?xml", b"%PDF-"]
    assert prediction.plot()._repr_png_().startswith(b"\x89PNG")  # notebooks show it


@pytest.mark.parametrize(
    ("target", "kind", "message"),
    [
        (StringIO(), None, "a picture cannot be written to StringIO; give a path, or a buffer of bytes"),
        (5, None, "a picture cannot be written to int; give a path, or a buffer of bytes"),
        (BytesIO(), "gif", "format = 'gif' is not known; a picture is png, svg, pdf"),
        ("a.svg", "png", "a.svg: format = 'png' is for buffers; the ending of a name says its format"),
        ("a.gif", None, "a.gif: a picture is PNG, SVG or PDF"),
    ],
)
def test_where_no_picture_can_go(target, kind, message):
    with pytest.raises(GareaderError, match=f"^{message}"):
        predicted().plot(target, format=kind)
