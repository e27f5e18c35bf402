"""Random images, an image retrieval baseline of 2023."""

from random import Random

from touche import Documents, Image, Rankings, Topics, UnsuitableInputError, baseline


@baseline
def random_images(topics: Topics, documents: Documents, *, seed: int = 1, depth: int = 10) -> Rankings:
    """Ranks random images for each topic and stance; both stances can get the same image.

    seed: any whole number; the same seed chooses the same images.
    depth: number of images per topic and stance.
    """
    ids = []
    for image in documents:
        if not isinstance(image, Image):
            raise UnsuitableInputError(f"{image.id} is not an image; pass a folder with images/")
        ids.append(image.id)
    ids.sort()
    for topic in topics:
        for stance in ("PRO", "CON"):
            chosen = Random(f"{seed} {topic.number} {stance}").sample(ids, min(depth, len(ids)))
            # The scores only express the order.
            yield topic, [(id, float(len(chosen) - rank), stance) for rank, id in enumerate(chosen)]
