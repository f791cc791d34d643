"""Formulas as MathML, which browsers draw by themselves: no script, no network."""

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def formula(self: Any, node: nodes.Node) -> None:
    """Write a formula in a line of text."""
    self.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def displayed(self: Any, node: nodes.Node) -> None:
    """Write a formula on its own."""
    self.body.append(f'<div class="formula">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Offer it under the name "mathml"."""
    app.add_html_math_renderer("mathml", (formula, None), (displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
