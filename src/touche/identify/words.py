"""The answer in sentences."""

from collections.abc import Iterator

from touche.identify.answer import Answer
from touche.identify.models import BM25, C0, MU
from touche.identify.numbers import Number

NOTHING = "No hypothesis stands out."


def first_line(answer: Answer) -> str:
    """The winner in one line, with its parameters; that there is none, where there is none."""
    if not answer.stands_out:
        return NOTHING
    return f"{_named(answer)}{_parameters(answer)}"


def sentences(answer: Answer) -> Iterator[str]:
    """What is to be said beside the tables."""
    yield answer.reason[0].upper() + answer.reason[1:] + "."
    if answer.stands_out:
        for axis, values in answer.undecided.items():
            yield f"The scores do not decide on {axis}: {'; or '.join(values)}."
    else:
        near = answer.nearest
        yield f"Nearest by its median error, {near.median:.2g}, is {near.hypothesis}."
        yield "Such scores come of a model, a tokenizer or a field outside of the search, or of re-ranking."
    for field, found in answer.collections.items():
        most = f"N = {found.documents:,}" + (f" (within {found.within})" if found.within else "")
        yield f"In {field} the weights are {found.weight}: df are whole numbers for {most}."


def _named(answer: Answer) -> str:
    """The first candidate, as Terrier's TF_IDF or BM25 where its weights tell which."""
    either = answer.candidates[0].hypothesis
    meanings = {
        ("Terrier's TF_IDF" if "Terrier" in found.weight else BM25) for found in answer.collections.values()
    }
    return either.replace(f"{BM25} or Terrier's TF_IDF", meanings.pop()) if len(meanings) == 1 else either


def _parameters(answer: Answer) -> str:
    told = "; ".join(filter(None, map(_parameter, answer.numbers)))
    return f"; {told}" if told else ""


def _parameter(number: Number) -> str:
    if number.note:
        return number.note.removeprefix("as with ").removeprefix("then ")
    if number.name in (MU, C0) or number.name.startswith("weight"):
        return f"{number.name} = {number.value if number.round is None else number.round:g}"
    return ""
