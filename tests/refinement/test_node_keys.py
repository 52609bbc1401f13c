from itertools import islice

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import batches
from twinwl import GraphBatch
from twinwl.refinement.colours import refine
from twinwl.refinement.content_keys import content_keys
from twinwl.refinement.node_keys import node_keys

any_batches = st.tuples(st.booleans(), st.booleans()).flatmap(
    lambda kind: batches(directed=kind[0], edge_label=kind[1])
)


@given(batch=any_batches, n_threads=st.sampled_from([1, 2]))
def test_keys_of_nodes_are_the_content_keys_of_their_colours(batch, n_threads):
    colouring = refine(batch, 3, edge_labels=True)
    by_colour = content_keys(colouring.alphabet)
    for h, keys in enumerate(islice(node_keys(batch, n_threads), 4)):
        np.testing.assert_array_equal(keys, by_colour[h][colouring.colours[h]])


def test_a_batch_with_edge_labels_but_no_edges_hears_nothing():
    labelled = GraphBatch.from_edges([[]], num_nodes=[2], edge_labels=[[]])
    plain = GraphBatch.from_edges([[]], num_nodes=[2])
    for one, other in islice(zip(node_keys(labelled), node_keys(plain), strict=False), 3):
        np.testing.assert_array_equal(one, other)
