"""Trains one policy for the rates of all flows, with PPO of Stable-Baselines3, on the processor, in minutes.

    pip install 'penstock[gym]' stable-baselines3
    python train.py [--steps 512000] [--seed 1] [--out .]

The incast of `incast.toml`, with links of 0.5 to 4 us that each episode draws, in 16 runs of 8 flows at a time. It
writes the weights (`policy.json`, which `play.py` reads) and the learning curve (`curve.csv`, `curve.svg`).
"""

import argparse
import csv
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from penstock.figures.style import FLOW_COLOURS, lay_out, save, sheet, styled
from penstock.gym import FlowRatesVector
from policy import scaled
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv

HERE = Path(__file__).parent
DRAWS = {"topology.star.link_delay": {"from": "500 ns", "to": "4 us", "log": True}}
RUNS, FLOWS = 16, 8


class Flows(VecEnv):
    """The flows of all runs, as Stable-Baselines3 has them."""

    def __init__(self, seed: int) -> None:
        self.own = FlowRatesVector(
            HERE / "incast.toml",
            RUNS * FLOWS,
            step_s=20e-6,
            draws=DRAWS,
            autoreset_mode="SameStep",
        )
        super().__init__(
            RUNS * FLOWS,
            self.own.single_observation_space,
            self.own.single_action_space,
        )
        self.first_seed = seed
        self.rewards: list[float] = []

    def reset(self) -> np.ndarray:
        return scaled(self.own.reset(seed=self.first_seed)[0])

    def step_async(self, actions: np.ndarray) -> None:
        self.actions = actions

    def step_wait(
        self,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        found, rewards, terminated, truncated, infos = self.own.step(self.actions)
        over = terminated | truncated
        infos_of: list[dict[str, Any]] = [
            {"TimeLimit.truncated": bool(cut)} for cut in truncated
        ]
        for entry in np.flatnonzero(over):
            infos_of[entry]["terminal_observation"] = scaled(infos["final_obs"][entry])
        # Errors reach 100 with a full buffer: their squares would drown all others.
        rewards = -np.log1p(-rewards)
        self.rewards.append(float(rewards.mean()))
        return scaled(found), rewards, over, infos_of

    def close(self) -> None:
        pass

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [None] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        pass

    def env_method(
        self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any
    ) -> list[Any]:
        raise AttributeError(f"a run has no method {method_name}")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * self.num_envs


class Curve(BaseCallback):
    """The mean reward of a decision in each rollout."""

    def __init__(self, env: Flows) -> None:
        super().__init__()
        self.env, self.rows, self.begun_s = env, [], time.perf_counter()

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self.rows.append((self.num_timesteps, float(np.mean(self.env.rewards))))
        self.env.rewards.clear()
        print(
            f"{self.num_timesteps} decisions, {self.rows[-1][1]:.4f} each", flush=True
        )


def main() -> None:
    """Trains, and writes weights and curve."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=512_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=HERE)
    given = parser.parse_args()
    env = Flows(given.seed)
    model = PPO(
        "MlpPolicy",
        env,
        n_steps=200,
        batch_size=3200,
        n_epochs=10,
        learning_rate=1e-3,
        gamma=0.9,
        gae_lambda=0.9,
        policy_kwargs={"net_arch": [16, 16], "log_std_init": -1.0},
        seed=given.seed,
        device="cpu",
    )
    curve = Curve(env)
    model.learn(given.steps, callback=curve)
    layers = [*model.policy.mlp_extractor.policy_net[::2], model.policy.action_net]
    weights = [
        {
            "weights": own.weight.detach().numpy().round(5).tolist(),
            "bias": own.bias.detach().numpy().round(5).tolist(),
        }
        for own in layers
    ]
    (given.out / "policy.json").write_text(json.dumps(weights) + "\n", encoding="utf-8")
    with (given.out / "curve.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("decisions", "reward"))
        writer.writerows(
            (decisions, f"{reward:.5f}") for decisions, reward in curve.rows
        )
    draw(given.out / "curve.csv", given.out / "curve.svg")
    print(f"{time.perf_counter() - curve.begun_s:.0f} s")


def draw(curve: Path, out: Path) -> None:
    """Draws a learning curve."""
    with curve.open(encoding="utf-8", newline="") as file:
        rows = [
            (int(row["decisions"]), float(row["reward"]))
            for row in csv.DictReader(file)
        ]
    with styled():
        figure = sheet(6.4, 2.8)
        axes = figure.subplots()
        axes.plot(
            *zip(*rows, strict=True), marker="o", markersize=3, color=FLOW_COLOURS[0]
        )
        axes.set_xlabel("decisions of all flows")
        axes.set_ylabel("mean of -ln(1 + error²)")
        axes.set_ylim(top=0.0)
        lay_out(figure)
        save(figure, out)


if __name__ == "__main__":
    main()
