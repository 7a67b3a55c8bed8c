"""Types of the values in study and claims files, each with its sentence for what is not allowed."""
import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from liestep.study.plan.names import LONGEST


def _no_truth(value: Any) -> Any:
    """Raises ValueError for true and false, which Python takes for 1 and 0."""
    if isinstance(value, bool):
        raise ValueError("must be a whole number")
    return value


def _once(values: list[Any] | None) -> list[Any] | None:
    """Raises ValueError for a list that names something twice."""
    twice = [value for value in values if values.count(value) > 1] if values else []
    if twice:
        raise ValueError(f"{twice[0]} appears twice")
    return values


NO_TRUTH = BeforeValidator(_no_truth)  # after the bounds of a whole number, which the JSON schema shows only then
Real = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Positive = Annotated[Real, Field(gt=0)]
Count = Annotated[int, Field(gt=0), NO_TRUTH]
NotNegative = Annotated[int, Field(ge=0), NO_TRUTH]
Once = AfterValidator(_once)


def _one_line(text: str | None) -> str | None:
    """Raises ValueError for text with characters that are none, such as line ends and escapes of a terminal."""
    if text is not None and not text.isprintable():
        raise ValueError("must be one line of characters that can be printed")
    return text


def _text(text: str) -> str:
    """Raises ValueError for control characters other than line ends and tabs."""
    _one_line(re.sub(r"[\n\t]", " ", text))
    return text


Line, Text = AfterValidator(_one_line), AfterValidator(_text)
Name = Annotated[str, Field(pattern=rf"^[A-Za-z][A-Za-z0-9_]{{0,{LONGEST - 1}}}$")]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
