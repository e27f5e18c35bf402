# The base of all baselines: Python, the library, and its requirements.
# Build it in the root of the repository: make images
ARG PYTHON_IMAGE=python:3.11-slim-bookworm@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b

FROM $PYTHON_IMAGE AS build
# `touche images verify` removes the images with its label.
ARG TEMPORARY
LABEL touche.temporary=$TEMPORARY
# The order of sets in bytecode follows the seed.
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore PYTHONHASHSEED=0
# The requirements change seldom, so that their layer comes first.
COPY docker/base.txt /tmp/
RUN python3 -m venv --without-pip /opt/touche \
 && python3 -m pip --python /opt/touche/bin/python install --require-hashes --no-deps --only-binary :all: --no-compile \
      --requirement /tmp/base.txt \
 # Tests of numpy are not needed. Bytecode is compiled here, because containers have a read-only file system.
 && cd /opt/touche/lib/python3.11/site-packages \
 && find . -depth -type d -name tests -exec rm -rf {} + \
 && python3 -m compileall -q -f --invalidation-mode unchecked-hash .

FROM build AS library
COPY docker/build.txt /tmp/
RUN python3 -m pip install --require-hashes --no-deps --only-binary :all: --requirement /tmp/build.txt
COPY docker/baseline /opt/program/
COPY pyproject.toml hatch_build.py LICENSE /src/
COPY src /src/src
# The README is not copied, because it contains this image's size. The modes are not those of the clone.
RUN chmod -R u=rwX,go=rX /src && chmod 755 /opt/program/baseline && cd /src && touch README.md \
 && WHEEL_FOR=$(uname -m) python3 -m hatchling build --target wheel --directory /opt/wheel \
 && python3 -m pip install --no-index --no-deps --no-compile --target /opt/library /opt/wheel/*.whl \
 && python3 -m compileall -q -f --invalidation-mode unchecked-hash /opt/library

FROM $PYTHON_IMAGE
ENV PYTHONDONTWRITEBYTECODE=1
COPY --from=build /opt/touche /opt/touche
COPY --from=library /opt/program/baseline /usr/local/bin/baseline
ENTRYPOINT ["baseline"]
COPY --from=library /opt/library /opt/touche/lib/python3.11/site-packages
LABEL org.opencontainers.image.title="touche-baselines" org.opencontainers.image.licenses="Apache-2.0"
