"""What instances and answers show in a notebook, and as text."""

from __future__ import annotations

import numpy as np

from problems import notebook
from problems.answer import Answer
from problems.generate.random import random_bundle
from problems.resolve import from_bundle


def test_an_instance_shows_its_sizes_and_its_devices():
    instance = from_bundle(random_bundle(3, n=9, devices=3, problem="latency"), "<mine>")
    html = instance._repr_html_()
    assert "<td style='text-align:left'>9 nodes" in html
    assert all(name in html for name in instance.device_names)
    assert repr(instance) == f"<Instance {instance.id}: 9 nodes, {instance.m} edges, 3 devices>"


def test_an_answer_shows_the_nodes_of_every_device():
    answer = Answer.of([0, 2, 2], order=[[0], [], [1, 2]])
    assert repr(answer) == "<Answer: 3 nodes, order>"
    assert "<th>device 0</th><th>device 2</th>" in answer._repr_html_()
    assert "<tr><td>1</td><td>2</td></tr>" in answer._repr_html_()


def test_a_mixture_shows_its_mappings_and_their_rates():
    answer = Answer.of([0, 0], others=[[1, 1]], rates=[3.0, 0.25])
    html = answer._repr_html_()
    assert "2 mappings with rates" in html
    assert "<tr><td>3</td><td>2</td><td>0</td></tr>" in html
    assert "<tr><td>0.25</td><td>0</td><td>2</td></tr>" in html


def test_what_is_no_answer_has_a_text_too():
    assert "1 nodes" in repr(Answer(3))  # a method may return anything


def test_long_tables_are_cut_and_text_is_escaped():
    html = notebook.table(["<a>"], [[i] for i in range(notebook.MOST + 3)])
    assert "and 3 more" in html
    assert "&lt;a&gt;" in html
    assert notebook.amount(np.inf) == "no limit"
