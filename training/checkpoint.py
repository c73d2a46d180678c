"""Where a training stands, in one file that is replaced as a whole: weights, AdamW's moments, dropout's numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from mnemic.errors import InvalidInput

_MOMENTS = ("exp_avg", "exp_avg_sq", "step")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A file below the folder of a training.

    Attributes:
        path: Of the file.
        recipe: The fingerprint of what is trained; a checkpoint of another recipe is not gone on with.
    """

    path: Path
    recipe: str

    def save(self, encoder: nn.Module, optimizer: torch.optim.AdamW, step: int) -> None:
        """Keep where a training stands after so many steps."""
        held = {f"weight.{name}": value.contiguous() for name, value in encoder.state_dict().items()}
        for name, state in _states(encoder, optimizer).items():
            held |= {f"{moment}.{name}": state[moment].contiguous() for moment in _MOMENTS if moment in state}
        held["random"] = torch.get_rng_state()
        draft = self.path.with_suffix(".part")
        save_file(held, draft, {"recipe": self.recipe, "step": str(step)})
        draft.replace(self.path)

    def restore(self, encoder: nn.Module, optimizer: torch.optim.AdamW) -> int:
        """Go on from where a training stood; the number of steps it had made, 0 where there is no checkpoint.

        Raises:
            InvalidInput: It is of another recipe.
        """
        if not self.path.is_file():
            return 0
        with safe_open(self.path, "pt") as file:
            made: dict[str, str] = file.metadata()
            held: dict[str, Tensor] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
        if made["recipe"] != self.recipe:
            raise InvalidInput(
                f"{self.path} is of another recipe, or of other pairs: remove it, or name another --output"
            )
        weights = {name: held[f"weight.{name}"] for name in encoder.state_dict()}
        encoder.load_state_dict(weights)
        for name, state in _states(encoder, optimizer).items():
            state.update({moment: held[f"{moment}.{name}"] for moment in _MOMENTS if f"{moment}.{name}" in held})
        torch.set_rng_state(held["random"])
        return int(made["step"])


def _states(encoder: nn.Module, optimizer: torch.optim.AdamW) -> dict[str, dict[str, Tensor]]:
    """Parameter -> what AdamW holds of it, which is empty before the first step."""
    return {name: optimizer.state[value] for name, value in encoder.named_parameters() if value.requires_grad}
