"""Baselines in PyTerrier's pipelines, without Java."""

import pickle
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import touche
from conftest import ROOT
from pages import steps
from touche.data.datasets import opened
from touche.errors import ToucheError
from touche.trec.qrels import read_qrels

RECIPES = ROOT / "docs" / "how-to" / "recipes.md"

pt = pytest.importorskip("pyterrier", reason="needs PyTerrier: pip install --editable '.[pyterrier]'")

DATASET = "spot-check/arguments"
QRELS = read_qrels(ROOT / "qrels" / "spot-check-arguments-relevance.qrels").frame()


@pytest.fixture(scope="module")
def topics() -> Any:
    return touche.task(DATASET).topics.frame()[["qid", "query"]]


@pytest.fixture(scope="module")
def text() -> Any:
    """PyTerrier's transformer that adds the texts of documents."""
    texts = {document.id: document.text for document in opened(DATASET).documents}
    return pt.apply.text(lambda row: texts[row["docno"]])


def test_an_experiment_compares_baselines_and_a_reranker_of_pyterrier(topics: Any, text: Any) -> None:
    bm25 = touche.pyterrier("bm25", DATASET, k1=1.2)
    dirichletlm = touche.pyterrier("dirichletlm", DATASET)
    passages = pt.text.sliding(length=20, stride=10, text_attr="text", prepend_attr=None)
    by_passage = bm25 % 20 >> text >> passages >> touche.pyterrier("bm25") >> pt.text.max_passage()
    systems = [bm25, dirichletlm, by_passage]
    result = pt.Experiment(
        systems, topics, QRELS, ["ndcg_cut.5"], names=["bm25", "dlm", "passages"], verbose=False
    )
    assert not pt.java.started()
    runs = {"bm25": touche.run("bm25", DATASET, k1=1.2), "dlm": touche.run("dirichletlm", DATASET)}
    (measure,) = (name for name in result.columns if name != "name")
    by_name = dict(zip(result["name"], result[measure], strict=True))
    for name, run in runs.items():
        assert by_name[name] == pytest.approx(touche.evaluate(run, DATASET, "trec_eval")[0].mean, abs=1e-9)
    assert 0.5 < by_name["passages"] < 1 and by_name["passages"] not in (by_name["bm25"], by_name["dlm"])


def test_a_transformer_ranks_as_touche_run_does_and_keeps_other_columns(topics: Any) -> None:
    frame = touche.pyterrier("bm25", DATASET, depth=7)(topics.assign(origin="title"))
    run = touche.run("bm25", DATASET, depth=7).frame()
    for column in ("qid", "docno", "rank"):
        assert list(frame[column]) == list(run[column])
    assert list(frame["score"].astype("float32")) == list(run["score"].astype("float32"))  # as in run.txt
    assert set(frame["origin"]) == {"title"} and set(frame["query"]) == set(topics["query"])


def test_a_frame_of_topics_is_a_transformers_input_and_keeps_what_topics_say() -> None:
    topics = touche.task(DATASET).topics
    frame = touche.pyterrier("bm25", DATASET, depth=7)(topics.frame())
    run = touche.run("bm25", DATASET, depth=7).frame()
    assert frame[["qid", "docno"]].values.tolist() == run[["qid", "docno"]].values.tolist()
    narratives = {topic.number: topic.narrative for topic in topics}
    assert all(narratives.values()) and list(frame["narrative"]) == [narratives[qid] for qid in frame["qid"]]


def test_the_recipe_of_an_experiment_prints_the_scores_of_touche_evaluate(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (python,) = (step for step in steps(RECIPES) if step.kind == "python" and "import pyterrier" in step.text)
    exec(python.text, {})
    printed = capsys.readouterr().out
    runs = [touche.run("bm25", DATASET, k1=1.2), touche.run("dph", DATASET)]
    for score in touche.evaluate(runs, DATASET, "trec_eval"):
        assert f"{score.mean:.6f}" in printed


def test_a_dataset_reranks_candidates_by_its_own_statistics(topics: Any) -> None:
    whole = touche.pyterrier("bm25", DATASET)(topics)
    tenth = whole[whole["rank"] % 10 == 3].sample(frac=1, random_state=1)
    again = touche.pyterrier("bm25", DATASET)(tenth.assign(score=0.0))
    scores = whole.set_index(["qid", "docno"])["score"]
    assert len(again) == len(tenth)
    for row in again.itertuples():
        assert row.score == scores[row.qid, row.docno]
    assert all(list(group["rank"]) == list(range(len(group))) for _, group in again.groupby("qid"))


def test_texts_of_a_frame_are_reranked_by_their_own_statistics(topics: Any, text: Any) -> None:
    first = text(touche.pyterrier("dirichletlm", DATASET, depth=10)(topics[:1]))
    result = touche.pyterrier("bm25")(first)
    documents = [touche.Document(row.docno, row.text) for row in first.itertuples()]
    topic = touche.Topic(topics["qid"][0], topics["query"][0])
    hits = next(iter(touche.scan.rank([topic], documents, touche.scan.bm25(0.9, 0.4), analysis="english")))[1]
    assert list(zip(result["docno"], result["score"], strict=True)) == hits
    assert list(result["text"]) == [
        dict(zip(first["docno"], first["text"], strict=True))[id] for id, _ in hits
    ]


def test_frames_without_rows_and_ids_that_are_numbers_are_ranked(topics: Any) -> None:
    ranker = touche.pyterrier("bm25", DATASET)
    assert list(ranker(topics[:0]).columns) == ["qid", "query", "docno", "score", "rank"]
    assert pt.inspect.transformer_outputs(touche.pyterrier("bm25"), ["qid", "query", "docno", "text"])
    frame = pd.DataFrame({"qid": [1, 1], "query": "cats", "docno": [5, 6], "text": ["cats", "dogs"]})
    result = touche.pyterrier("bm25")(frame)
    rows = [("1", "5", 0), ("1", "6", 1)]  # a candidate without a word of the query is last
    assert list(result[["qid", "docno", "rank"]].itertuples(index=False, name=None)) == rows


@pytest.mark.parametrize(
    ("arguments", "options", "problem"),
    [
        (("no-baseline",), {}, "no-baseline"),
        (("bm25",), {"k3": 1}, "k3"),
        (("bm25", "no-dataset"), {}, "no-dataset"),
    ],
)
def test_unknown_names_are_errors_at_once(arguments: Any, options: Any, problem: str) -> None:
    with pytest.raises(ToucheError, match=problem):
        touche.pyterrier(*arguments, **options)


def test_frames_that_cannot_be_ranked_are_refused(topics: Any) -> None:
    with pytest.raises(pt.validate.InputValidationError, match="text"):
        touche.pyterrier("bm25")(topics)
    twice = pd.DataFrame({"qid": ["1", "1"], "query": ["cats", "dogs"]})
    with pytest.raises(ToucheError, match="qid '1' has two"):
        touche.pyterrier("bm25", DATASET)(twice)


TEXTS = pd.DataFrame({"qid": ["1", "2"], "query": "cats", "docno": "d", "text": "cats and dogs"})


def test_a_document_with_two_texts_is_refused() -> None:
    assert list(touche.pyterrier("bm25")(TEXTS)["qid"]) == ["1", "2"]
    with pytest.raises(ToucheError, match=r"docno 'd' has two.*text"):
        touche.pyterrier("bm25")(TEXTS.assign(text=["cats", "dogs"]))


@pytest.mark.parametrize("column", ["qid", "query", "docno", "text"])
@pytest.mark.parametrize("value", [None, float("nan")])
def test_missing_values_are_refused_and_never_the_word_nan(column: str, value: Any) -> None:
    frame = TEXTS.astype(object)
    frame.loc[1, column] = value
    with pytest.raises(ToucheError, match=rf"no {column} in row 2"):
        touche.pyterrier("bm25")(frame)


def test_rows_that_occur_twice_are_ranked_once(topics: Any) -> None:
    ranker = touche.pyterrier("bm25", DATASET)
    assert ranker(pd.concat([topics, topics[:2]])).equals(ranker(topics))
    twice = pd.concat([TEXTS, TEXTS])
    assert touche.pyterrier("bm25")(twice).equals(touche.pyterrier("bm25")(TEXTS))


def test_the_recipe_of_a_pipeline_is_a_baseline(tmp_path: Path) -> None:
    """The commands around it are not run with the other recipes, because they need PyTerrier."""
    (file,) = (step for step in steps(RECIPES) if step.path == "pipeline/baseline.py")
    path = tmp_path / file.path
    path.parent.mkdir()
    path.write_text(file.text)
    page = RECIPES.read_text()
    (score,) = touche.evaluate(touche.run(path.parent, DATASET), DATASET, "trec_eval")
    assert f"touche-pipeline  relevance  trec_eval   {score.mean:.3f}" in page
    assert touche.run(path.parent, DATASET, passage=1000)[0].document


@pytest.mark.parametrize("dataset", [DATASET, None])
def test_a_transformer_passes_through_pickle(topics: Any, text: Any, dataset: str | None) -> None:
    frame = touche.pyterrier("bm25", DATASET, depth=7)(topics)
    transformer = touche.pyterrier("dirichletlm", dataset)
    copy = pickle.loads(pickle.dumps(transformer))
    assert repr(copy) == repr(transformer) and copy(text(frame)).equals(transformer(text(frame)))
