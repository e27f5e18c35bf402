// Tables are sorted by the button in a column's head: first upwards, then downwards. Nothing else needs a script.
const value = (row, column) => {
  const cell = row.cells[column];
  const text = (cell.dataset.value ?? cell.textContent).trim();
  return text === "" || text === "–" ? null : isNaN(text) ? text.toLowerCase() : Number(text);
};

const order = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));

for (const button of document.querySelectorAll("button.sort")) {
  button.addEventListener("click", () => {
    const head = button.closest("th"), body = head.closest("table").tBodies[0];
    const column = head.cellIndex, down = head.getAttribute("aria-sort") === "ascending";
    const rows = [...body.rows].map(row => [value(row, column), row]);
    rows.sort(([a], [b]) => a === null || b === null ? (a === null) - (b === null) : down ? order(b, a) : order(a, b));
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows.map(([, row]) => row));
  });
}

// A link to a topic opens it, each time it is followed.
const open = hash => document.getElementById(hash.slice(1))?.setAttribute("open", "");
for (const link of document.querySelectorAll('a[href^="#"]')) link.addEventListener("click", () => open(link.hash));
open(location.hash);
