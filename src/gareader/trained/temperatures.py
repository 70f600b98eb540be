"""The temperatures of a model, which calibrate its probabilities: for given and proposed candidates, and by length."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from gareader.core.errors import ConfigError
from gareader.data.examples import Example, Prediction

LENGTH, SHORTEST, LONGEST = 400, 100, 1000
"""Words of a text at which a temperature is as it is, and between which it follows the length."""
STEEPEST = 2.0
"""The largest slope."""


@dataclass(frozen=True)
class Temperatures:
    """Divide the log-probabilities of answers; fitted ones calibrate them."""

    given: float = 1.0
    """For candidates that the user gives."""
    proposed: float = 1.0
    """For candidates proposed from the document: the right answer may be none of them."""
    slope: float = 0.0
    """Short texts have higher temperatures, by the factor (LENGTH ÷ words) to this power."""

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> "Temperatures":
        given = float(settings.get("temperature", 1.0))
        proposed = float(settings.get("proposed_temperature", given))
        if not (0 < given < inf and 0 < proposed < inf):
            raise ConfigError(f"temperature = {given} or proposed_temperature = {proposed} is not positive")
        slope = float(settings.get("temperature_slope", 0.0))
        if not abs(slope) <= STEEPEST:
            raise ConfigError(f"temperature_slope = {slope} is not between -{STEEPEST} and {STEEPEST}")
        return cls(given, proposed, slope)

    def record(self) -> dict[str, float]:
        return {"temperature": self.given, "proposed_temperature": self.proposed, "temperature_slope": self.slope}

    def of_example(self, example: Example) -> float:
        """The temperature of the answer to a question."""
        return (self.proposed if example.proposed else self.given) * by_length(example, self.slope)

    def tempered(self, prediction: Prediction) -> Prediction:
        return prediction.tempered(self.of_example(prediction.example))


def by_length(example: Example, slope: float) -> float:
    """The factor of the temperature for the length of the example's document."""
    return float((LENGTH / min(max(len(example.document), SHORTEST), LONGEST)) ** slope)


AS_TRAINED = Temperatures()
