# The base of all baselines: Python, what the library needs, and the library.
# From the root of the repository: make images

FROM debian:bookworm-slim AS python
RUN apt-get update \
 && apt-get install --yes --no-install-recommends python3 \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/*

FROM python AS build
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev python3-pip python3-venv \
 && python3 -m venv --without-pip /opt/touche
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_COMPILE=1
# What changes seldom comes first: the requirements.
COPY constraints.txt docker/requirements.txt /tmp/
RUN python3 -m pip --python /opt/touche/bin/python install --no-deps \
      --constraint /tmp/constraints.txt --requirement /tmp/requirements.txt \
 # Of numpy no tests are needed; bytecode is made here, as the file system is read-only later.
 && cd /opt/touche/lib/python3.11/site-packages \
 && find . -depth -type d -name tests -exec rm -rf {} + \
 && python3 -m compileall -q --invalidation-mode unchecked-hash .

FROM build AS library
COPY pyproject.toml hatch_build.py constraints.txt LICENSE /src/
COPY src /src/src
# The README, which says how large this image is, is no part of it.
RUN cd /src && touch README.md && PIP_CONSTRAINT=/src/constraints.txt python3 -m pip --python /opt/touche/bin/python install \
      --no-deps --target /opt/library . \
 && python3 -m compileall -q --invalidation-mode unchecked-hash /opt/library

FROM python
ENV PYTHONDONTWRITEBYTECODE=1
COPY --from=build /opt/touche /opt/touche
COPY docker/baseline /usr/local/bin/baseline
ENTRYPOINT ["baseline"]
COPY --from=library /opt/library /opt/touche/lib/python3.11/site-packages
LABEL org.opencontainers.image.title="touche-baselines" org.opencontainers.image.licenses="Apache-2.0"
