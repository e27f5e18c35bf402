# The machine of a newcomer: Debian with git, make and Python, and a user who is not root.
FROM debian:bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends git make python3-venv
RUN useradd --create-home newcomer
USER newcomer
WORKDIR /home/newcomer
