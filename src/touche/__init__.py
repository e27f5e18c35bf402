"""Published baselines of the Touché shared tasks, ready to rerun, and the tools that check them.

A baseline is a function with the decorator ``baseline``. It yields ``Rankings`` for ``Topics`` and
``Documents``.

* documents and topics: ``Topic``; ``AnyDocument``, which is a ``Document``, ``Argument``, ``Page`` or
  ``Image``; ``Sentence``; ``premises_of``, ``conclusion_of``, ``discussion_of`` and ``page_of`` return
  parts of any document; ``as_page`` and ``parse_as_in_2020`` return web pages in fields
* engines: ``scan`` (no index), ``lucene`` (Lucene itself), ``pairs`` (sentence pairs and embeddings)
* checks of a baseline, errors and warnings: ``check_range``, ``ToucheError``, ``InputError``,
  ``ParameterError``, ``UnsuitableInputError``, ``ToucheWarning``
* help for a baseline: ``words`` splits texts, ``rank_by_words`` ranks with rank_bm25, ``with_unmatched``
  adds candidates, ``watched`` and ``bar`` show progress, ``load`` loads one, ``imported`` imports an
  optional package; ``make_folder``, ``check_writable`` and ``whole`` write files
* search engines of others: ``SearchEngine`` sends requests, ``first_of_each`` makes a ranking of results
* a task with its data: ``task`` returns ``TaskData``
* the types of what you can pass: ``AnyRun``, ``AnyQrels``, ``AnyTopics`` and ``AnyDocuments``, each a union
  of the usual forms; ``SeveralRuns`` is a list or a dictionary of runs, and ``AnyRuns`` one run or several;
  ``run_of`` and ``qrels_of`` convert runs and qrels to ``Run`` and ``Qrels``
* a transformer of PyTerrier: ``pyterrier``

Each command has a function, whose result it prints. Results are a ``Table`` or have ``frame()``:

* touche run: ``run`` runs a baseline and returns the run; ``write_run`` writes it with its metadata
* touche evaluate: ``evaluate`` scores runs; ``wide`` makes a table with a row for each run, for papers
* touche compare: ``compare`` tests the differences between runs
* touche overlap: ``overlap`` compares the documents of runs, and the scores of reruns
* touche fuse: ``fuse`` makes one run of several
* touche lint: ``lint`` checks the runs of a submission
* touche report: ``report`` writes a page on runs
* touche identify: ``identify`` infers the settings of a run from its scores
* touche sweep: ``sweep`` runs a baseline with many settings
* touche spark: ``run_on_spark`` runs a baseline on a Spark cluster
* touche regress: ``regress`` reruns baselines and compares their scores with the expected ones
* touche run --help: ``list_baselines`` returns baselines with their options
* touche tasks: ``list_tasks`` returns all tasks; ``published`` and ``published_topics`` return published
  results, and ``reported`` those of TIREx; ``reproductions`` returns published values of baselines with
  their reruns; ``check_cards`` checks cards; ``write_for_tira`` writes a dataset for TIRA
* touche data: ``list_data``, ``fetch`` and ``verify`` are for official data
* touche images: ``list_images``, ``build_images``, ``digest_images`` and ``verify_image``

No function prints or exits. Warnings are Python warnings of the category ``ToucheWarning``. To switch
progress bars off, write
``logging.getLogger("touche").setLevel("WARNING")``.

The page "Python API" of the documentation describes all names. Other modules may change without notice.
"""

import lazy_loader

# Imports wait until a name is used, because the command handles signals before slow imports.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
