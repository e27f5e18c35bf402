# The base of all baselines: Python, the library, and its requirements.
# Build it in the root of the repository: make images

FROM debian:bookworm-slim AS python
RUN apt-get update \
 && apt-get install --yes --no-install-recommends python3 \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/*

FROM python AS build
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev python3-pip python3-venv \
 && python3 -m venv --without-pip /opt/touche
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_COMPILE=1
# The requirements change seldom, so that their layer comes first.
COPY constraints.txt docker/requirements.txt /tmp/
RUN python3 -m pip --python /opt/touche/bin/python install --no-deps \
      --constraint /tmp/constraints.txt --requirement /tmp/requirements.txt \
  # Tests of numpy are not needed. Bytecode is compiled here, because containers have a read-only file system.
 && cd /opt/touche/lib/python3.11/site-packages \
 && find . -depth -type d -name tests -exec rm -rf {} + \
 && python3 -m compileall -q --invalidation-mode unchecked-hash .

FROM build AS library
COPY pyproject.toml hatch_build.py constraints.txt LICENSE /src/
COPY src /src/src
# The README is not copied, because it contains this image's size.
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
