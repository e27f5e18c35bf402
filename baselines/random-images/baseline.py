"""Random images, an image retrieval baseline of 2023."""

from random import Random

from touche import Documents, Rankings, Topics, baseline


@baseline
def random_images(topics: Topics, documents: Documents, *, seed: int = 1, depth: int = 10) -> Rankings:
    """Ranks random images for each topic and stance; both stances can get the same image.

    seed: any whole number; the same seed chooses the same images.
    depth: number of images per topic and stance.
    """
    ids = sorted(document.id for document in documents)
    for topic in topics:
        for stance in ("PRO", "CON"):
            chosen = Random(f"{seed} {topic.number} {stance}").sample(ids, min(depth, len(ids)))
            # The scores only express the order.
            yield topic, [(id, float(len(chosen) - rank), stance) for rank, id in enumerate(chosen)]
