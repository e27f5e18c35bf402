"""Every published baseline of the Touché shared tasks, ready to rerun, and the tools that check them.

A baseline is a function with the decorator ``baseline``. It yields ``Rankings`` for ``Topics`` and
``Documents``.

* documents and topics: ``Topic``; ``AnyDocument``, which is a ``Document``, ``Argument`` or ``Page``;
  ``Sentence``; ``premises_of``, ``conclusion_of``, ``discussion_of`` and ``page_of`` return parts of any
  document
* engines: ``scan`` (no index), ``lucene`` (Lucene itself), ``pairs`` (sentence pairs and embeddings)
* checks of a baseline, errors and warnings: ``check_range``, ``ToucheError``, ``InputError``,
  ``ParameterError``, ``ToucheWarning``
* help for a baseline: ``with_unmatched`` adds candidates, ``watched`` shows progress, ``load`` loads one
* a task with its data: ``task`` returns ``TaskData``
* runs and qrels in any usual form: ``AnyRun`` and ``AnyQrels``; ``run_of`` and ``qrels_of`` convert them
  to ``Run`` and ``Qrels``
* a function for each command: ``run``, ``evaluate``, ``compare``, ``overlap``, ``fuse``, ``lint``,
  ``identify``, ``report``, ``regress``, ``sweep``, ``published``, ``published_topics``; ``wide``
  makes a table for papers; results are a ``Table`` or have ``frame()``
* topics and documents in any usual form: ``AnyTopics`` and ``AnyDocuments``
* lists: ``list_tasks``, ``list_baselines``, ``list_data``, ``list_images``; task cards: ``check_cards``
* runs in files: ``write_run``; those of parts: ``join_runs``, ``join_statistics``
* images: ``build_images``, ``digest_images``, ``verify_image``
* official data: ``fetch``, ``verify``; in other formats: ``write_beir``, ``write_for_tira``
* a transformer of PyTerrier: ``pyterrier``

No function prints or exits. Warnings are Python warnings of the category ``ToucheWarning``. To switch
progress bars off, write
``logging.getLogger("touche").setLevel("WARNING")``.

The page "Python API" of the documentation describes all names. Other modules belong to the command line.
"""

import lazy_loader

# Imports wait until a name is used, because the command handles signals before slow imports.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
