"""What became of one function, to look at: its source with the lane of every line, its graph, its kernels and its C++.

facts   the explanation, from the source's text alone   layout   where the drawing puts each node
graph   the text form of a graph as a tree of nodes     drawing  the graph as SVG
text    the explanation for a terminal                  page     the explanation as one HTML file
"""

from natif.explanation.facts import Explanation, explain

__all__ = ["Explanation", "explain"]
