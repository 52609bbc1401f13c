"""Readouts of one's own that can be imported by name."""

import torch


class RootSum(torch.nn.Module):
    """The sum over nodes, with a table that is not part of the state."""

    def __init__(self, n_features, hidden):
        super().__init__()
        self.linear = torch.nn.Linear(n_features, hidden)
        self.register_buffer("scale", torch.linspace(1, 2, hidden), persistent=False)

    def forward(self, x, edge_index, batch, size):
        states = torch.tanh(self.linear(x)) * self.scale
        states = states.index_add(0, edge_index[1], states[edge_index[0]])
        return states.new_zeros(size, states.shape[1]).index_add(0, batch, states).square()


def root_sum(n_features):
    return RootSum(n_features, 3)
