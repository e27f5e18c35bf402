"""Minsc, the image retrieval baseline of 2022: a web search engine's answers for and against."""

from touche import Documents, Image, Rankings, Topics, UnsuitableInputError, baseline

STANCES = ("PRO", "CON")
QUERY_ENDS = (" good", " anti")  # of each stance's queries


@baseline
def minsc(topics: Topics, documents: Documents, *, depth: int = 10) -> Rankings:
    """Ranks images by their best rank in a search engine.

    Queries that end in "good" count for PRO, queries that end in "anti" for CON, and others don't count. An
    image gets the stance of the query where one of its pages ranks best; if PRO and CON tie, it's PRO. Its
    score is (101 - rank) / 100. Images with equal scores are in descending order of their ids.

    depth: number of images per topic and stance.
    """
    # By topic and image: the best rank, and the index of its stance. Pairs compare so that PRO wins
    # ties.
    best: dict[str, dict[str, tuple[int, int]]] = {topic.number: {} for topic in topics}
    for image in documents:
        if not isinstance(image, Image):
            raise UnsuitableInputError(f"{image.id} is not an image; pass a folder with images/")
        results = [result for page in image.pages for result in page.results if result.topic in best]
        for result in results:
            best_of_topic = best[result.topic]
            for stance_index, end in enumerate(QUERY_ENDS):
                if result.query.endswith(end):
                    pair = (result.rank, stance_index)
                    best_of_topic[image.id] = min(pair, best_of_topic.get(image.id, pair))
    for topic in topics:
        for stance_index, stance in enumerate(STANCES):
            hits = [
                (image_id, (101 - rank) / 100, stance)  # as in the original; there are up to 100 ranks
                for image_id, (rank, best_stance_index) in best[topic.number].items()
                if best_stance_index == stance_index
            ]
            yield topic, sorted(hits, key=lambda hit: (hit[1], hit[0]), reverse=True)[:depth]
