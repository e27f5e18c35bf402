"""Minsc, the baseline of image retrieval of 2022: what a web search engine answered for and against."""

from touche import Documents, Image, Rankings, Topics, ToucheError, baseline

STANCES = {" good": "PRO", " anti": "CON"}  # by the ends of the queries


@baseline
def minsc(topics: Topics, documents: Documents, *, depth: int = 10) -> Rankings:
    """Ranks images by their best rank in a search engine.

    Queries that end in good are for PRO, those that end in anti are for CON, and others are ignored. An image
    has the stance of its best rank in all of its pages, or PRO if both ranks are equal. Its score is
    (101 - rank) / 100. Equal scores are ordered by descending id.

    depth: number of images per topic and stance.
    """
    best: dict[str, dict[str, tuple[int, str]]] = {topic.number: {} for topic in topics}
    for image in documents:
        if not isinstance(image, Image):
            raise ToucheError(f"{image.id} is not an image; pass a folder with images/")
        for result in (result for page in image.pages for result in page.results):
            stance = next((name for end, name in STANCES.items() if result.query.endswith(end)), None)
            if stance and result.topic in best:
                ranks = best[result.topic]
                known = ranks.get(image.id)
                if known is None or (result.rank, stance != "PRO") < (known[0], known[1] != "PRO"):
                    ranks[image.id] = (result.rank, stance)
    for topic in topics:
        for stance in STANCES.values():
            hits = [
                (image, (101 - rank) / 100, stance)
                for image, (rank, own) in best[topic.number].items()
                if own == stance
            ]
            yield topic, sorted(hits, key=lambda hit: (hit[1], hit[0]), reverse=True)[:depth]
