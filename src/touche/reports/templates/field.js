// The points of a strip are one stop for the keyboard; arrows go from a run to the next.
for (const line of document.querySelectorAll(".field .line")) line.addEventListener("keydown", event => {
  const point = {ArrowLeft: event.target.previousElementSibling, ArrowRight: event.target.nextElementSibling}[event.key];
  if (!point) return;
  event.preventDefault();
  event.target.tabIndex = -1;
  point.tabIndex = 0;
  point.focus();
});
