"""Minsc, the baseline of image retrieval of 2022: what a web search engine answered for and against."""

from touche import Documents, Image, Rankings, Topics, ToucheError, baseline

# The ends of queries for and against.
PRO_END = " good"
CON_END = " anti"


@baseline
def minsc(topics: Topics, documents: Documents, *, depth: int = 10) -> Rankings:
    """Ranks images by their best rank in a search engine.

    Queries that end in "good" are for PRO, and queries that end in "anti" are for CON; others are ignored. An
    image has the stance of the query for which one of its pages has the best rank. If the best ranks for PRO
    and CON are equal, the stance is PRO. The score of an image is (101 - rank) / 100. Images with equal
    scores are ordered by descending id.

    depth: number of images per topic and stance.
    """
    # By topic and image: the best rank, and whether it is against. The smaller pair is better.
    # If the ranks are equal, it is that of PRO, because False is less than True.
    best: dict[str, dict[str, tuple[int, bool]]] = {topic.number: {} for topic in topics}
    for image in documents:
        if not isinstance(image, Image):
            raise ToucheError(f"{image.id} is not an image; pass a folder with images/")
        results = [result for page in image.pages for result in page.results]
        for result in results:
            if result.topic in best and result.query.endswith((PRO_END, CON_END)):
                ranks = best[result.topic]
                rank_and_side = (result.rank, result.query.endswith(CON_END))
                ranks[image.id] = min(rank_and_side, ranks.get(image.id, rank_and_side))
    for topic in topics:
        for stance in ("PRO", "CON"):
            hits = []
            for image_id, (rank, is_against) in best[topic.number].items():
                stance_of_image = "CON" if is_against else "PRO"
                if stance_of_image == stance:
                    hits.append((image_id, (101 - rank) / 100, stance))
            yield topic, sorted(hits, key=lambda hit: (hit[1], hit[0]), reverse=True)[:depth]
