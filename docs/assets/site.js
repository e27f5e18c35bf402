// Whatever scrolls sideways can be reached by keyboard, and has a name.
document$.subscribe(() => {
  for (const each of document.querySelectorAll(".md-typeset__scrollwrap")) {
    each.tabIndex = 0;
    each.setAttribute("role", "region");
    each.setAttribute("aria-label", "Table");
  }
});
