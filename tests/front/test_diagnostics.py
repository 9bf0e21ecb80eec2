"""Every diagnostic is triggered by its own example, and by nothing else there; every form that an op names as native is claimed."""

import pytest
from claiming import body_claim, example_claim, refusals

from natif import _compiler

DIAGNOSTICS = _compiler.diagnostics()
EXAMPLES = [(op["node"], example) for op in _compiler.registry() for example in op["examples"]]


@pytest.mark.parametrize("diagnostic", DIAGNOSTICS, ids=lambda diagnostic: diagnostic["code"])
def test_example_triggers_it(diagnostic):
    found = example_claim(diagnostic)
    sites = [site for site in found["sites"] if site["outcome"] != "Claimed"]
    assert [site["code"] for site in sites] == [diagnostic["code"]]
    (site,) = sites
    assert site["outcome"] == diagnostic["outcome"]
    before, hole, after = diagnostic["text"].partition("{}")
    assert site["message"].startswith(before)
    assert site["message"].endswith(after)
    assert hole == "" or len(site["message"]) > len(before) + len(after)
    assert site["suggestion"] == diagnostic["suggestion"]
    assert (site["line"], site["column"]) <= (site["end_line"], site["end_column"])
    assert not found["native"]
    assert found["ir"] == ""


def test_codes_are_unique_and_texts_are_sentences_without_an_end():
    codes = [diagnostic["code"] for diagnostic in DIAGNOSTICS]
    assert len(set(codes)) == len(codes)
    for diagnostic in DIAGNOSTICS:
        assert diagnostic["text"]
        assert diagnostic["suggestion"]
        assert diagnostic["example"]
        assert not diagnostic["text"].endswith(".")
        assert not diagnostic["suggestion"].endswith(".")


@pytest.mark.parametrize(("node", "example"), EXAMPLES, ids=[example for _, example in EXAMPLES])
def test_forms_of_ops_are_claimed(node, example):
    found = body_claim(f"return {example}")
    assert refusals(found) == []
    assert found["native"]
    assert f"natif/{node}" in {site["rule"] for site in found["sites"]} or node == "BatchMatMulV2"
    _compiler.normal_graph(found["ir"])


@pytest.mark.parametrize(
    ("body", "span"),
    [
        ("return tf.cos(x2)", (5, 11, 5, 21)),
        ("y = 1\nreturn  tf.nn.relu(i1)", (6, 12, 6, 26)),
        ("return tf.nn.relu(x2) % (\n  y2)", (5, 11, 6, 9)),
        ("'ünï'; print(n)\nreturn x2", (5, 13, 5, 21)),
    ],
)
def test_spans_are_those_of_the_syntax_tree(body, span):
    sites = [site for site in body_claim(body)["sites"] if site["outcome"] != "Claimed"]
    assert [(site["line"], site["column"], site["end_line"], site["end_column"]) for site in sites] == [span]


def test_all_sites_are_reported():
    found = body_claim("print(n)\nz = tf.cos(x2)\nlogging.info(z)\nreturn tf.nn.relu(i1) + tf.nn.relu(x1)")
    assert [(site["target"], site["outcome"]) for site in found["sites"]] == [
        ("print", "NotCovered"),
        ("tf.cos", "NotCovered"),
        ("logging.info", "NotCovered"),
        ("tf.nn.relu", "Rejected"),
        ("tf.nn.relu", "Claimed"),
    ]
