"""The tasks that the tests know; new cards do not change results about these tasks."""

KNOWN = [
    "spot-check/arguments",
    "spot-check/pages",
    "spot-check/pairs",
    "spot-check/passages",
    "touche-2020-task-1",
    "touche-2020-task-1-v1",
    "touche-2020-task-2",
    "touche-2021-task-1",
    "touche-2021-task-2",
    "touche-2022-task-1",
    "touche-2022-task-2",
    "touche-2023-task-1",
    "touche-2023-task-2",
]
