"""Every diagnostic of an op is triggered by its own example, alone, with its text, at the call."""

from __future__ import annotations

import re
from typing import Any

import pytest
from graphs import HEADER, claims
from op_examples import function_source

from natif import _compiler

OF_OPS = [diagnostic for diagnostic in _compiler.diagnostics() if diagnostic["of_op"]]


@pytest.mark.parametrize("diagnostic", OF_OPS, ids=lambda diagnostic: diagnostic["code"])
def test_example_triggers_it(diagnostic: dict[str, Any]) -> None:
    source = HEADER + function_source("f", diagnostic["example"], 'Tensor["float32", 2]')
    claim = claims(source)["f"]
    assert not claim["native"]
    refused = [site for site in claim["sites"] if site["outcome"] != "Claimed"]
    assert [site["code"] for site in refused] == [diagnostic["code"]]
    site = refused[0]
    assert site["outcome"] == diagnostic["outcome"]
    assert site["suggestion"] == diagnostic["suggestion"]
    before, hole, after = diagnostic["text"].partition("{}")
    assert re.fullmatch(re.escape(before) + (".+" if hole else "") + re.escape(after), site["message"])
    line = source.splitlines().index(f"    return {diagnostic['example']}") + 1
    begin = len("    return ")
    assert (site["line"], site["column"], site["end_line"], site["end_column"]) == (line, begin, line, begin + len(diagnostic["example"]))


def test_codes_are_unique() -> None:
    codes = [diagnostic["code"] for diagnostic in _compiler.diagnostics()]
    assert len(codes) == len(set(codes))
