"""JSON and TOML from anyone: one error for all that can be wrong."""

import pytest

from gareader.core.parsing import ParseError, json_object, json_value, toml_table

DEEP, DIGITS = "[" * 100_000, "9" * 5000


@pytest.mark.parametrize("text", ["", "{", "[1", DEEP, DIGITS, b"\xff\xfe\x00", b"\x80", '"\\ud8'])
def test_no_json(text):
    with pytest.raises(ParseError):
        json_value(text)


@pytest.mark.parametrize(("text", "kind"), [("[]", "a list"), ("null", "null"), ("1", "a number"), ('""', "a text")])
def test_no_object(text, kind):
    with pytest.raises(ParseError, match=f"^{kind} where an object is due$"):
        json_object(text)


@pytest.mark.parametrize(("parse", "text"), [(json_value, DIGITS), (toml_table, f"a = {DIGITS}")])
def test_a_number_of_thousands_of_digits(parse, text):
    with pytest.raises(ParseError, match=r"^a number has thousands of digits$"):
        parse(text)


def test_values():
    assert json_object('{"a": [1, null]}') == {"a": [1, None]}
    assert json_value(b"[1.5]") == [1.5]
    assert toml_table("a = 1\n[b]\nc = [2]") == {"a": 1, "b": {"c": [2]}}


@pytest.mark.parametrize("text", ["a = " + DEEP, "a = " + DIGITS, "a", "a = 2000-13-01", "a = 1\na = 2"])
def test_no_toml(text):
    with pytest.raises(ParseError):
        toml_table(text)
