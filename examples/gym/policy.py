"""Policies for rates of flows: the network that `train.py` has trained, in numpy, and the published one of RL-CC."""

import json
from pathlib import Path

import numpy as np


def scaled(seen: np.ndarray) -> np.ndarray:
    """Return observations as the network takes them: factors about 0, errors through a logarithm, as they reach 100."""
    rows = np.array(seen, np.float32)
    rows[..., ::2] = (rows[..., ::2] - 1.0) / 0.2
    errors = rows[..., 1::2]
    rows[..., 1::2] = np.sign(errors) * np.log1p(np.abs(errors))
    return rows


class Policy:
    """A policy for all flows.

    Args:
        path: its weights.
    """

    def __init__(self, path: Path) -> None:
        layers = json.loads(path.read_text(encoding="utf-8"))
        self._layers = [
            (np.array(own["weights"]), np.array(own["bias"])) for own in layers
        ]

    def __call__(self, seen: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return the action of each flow, without the noise of training."""
        rows = scaled(np.stack([*seen.values()]))
        for weights, bias in self._layers[:-1]:
            rows = np.tanh(rows @ weights.T + bias)
        weights, bias = self._layers[-1]
        actions = np.clip(rows @ weights.T + bias, -1.0, 1.0)
        return dict(zip(seen, actions, strict=True))


class Published:
    """The network that RL-CC's authors publish (benja263/rl-cc, `trained_models/rlcc_nn_model`); it needs torch.

    Args:
        path: a copy of that file; the repository has no licence, so that none is here.
    """

    def __init__(self, path: Path) -> None:
        import torch

        state = torch.load(path, map_location="cpu", weights_only=True)[
            "model_state_dict"
        ]
        self._layers = [weights.numpy() for weights in state.values()]

    def __call__(self, seen: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return the action of each flow."""
        rows = np.stack([*seen.values()]).astype(np.float32)
        for weights in self._layers[:-1]:
            rows = np.maximum(rows @ weights.T, 0.0)
        return dict(zip(seen, np.tanh(rows @ self._layers[-1].T), strict=True))
