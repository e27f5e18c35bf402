// Sorting, filtering, another reference, one run beside it, and figures on hover. All else needs no script.
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const named = name => document.querySelector(`select[name=${name}]`);
const runOf = cell => cell.closest("table").tHead.rows[0].cells[cell.cellIndex].dataset.run;
const score = cell => parseFloat(cell.style.getPropertyValue("--v"));
const differenceIn = cell => {
  const value = score(cell) - parseFloat(cell.closest("tr").style.getPropertyValue("--r"));
  return isNaN(value) ? "" : `${value < -0.0005 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;
};
const differing = () => document.querySelector("[name=mode][value=differences]")?.checked;

// Tables are sorted by the button in a column's head: first upwards, then downwards; a heat map by what it shows.
const value = (row, column) => {
  const cell = row.cells[column];
  if (differing() && cell.style.getPropertyValue("--v")) return score(cell) - parseFloat(row.style.getPropertyValue("--r"));
  const text = (cell.dataset.value ?? cell.firstChild?.textContent ?? "").trim();
  return text === "" || text === "–" ? null : isNaN(text) ? text.toLowerCase() : Number(text);
};
const order = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
const sort = (table, column, down) => {
  const rows = [...table.tBodies[0].rows].map(row => [value(row, column), row]);
  rows.sort(([a], [b]) => a === null || b === null ? (a === null) - (b === null) : down ? order(b, a) : order(a, b));
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  table.tHead.rows[0].cells[column].setAttribute("aria-sort", down ? "descending" : "ascending");
  table.tBodies[0].append(...rows.map(([, row]) => row));
};
for (const button of all("button.sort")) {
  button.addEventListener("click", () => {
    const head = button.closest("th"), table = head.closest("table");
    const down = head.getAttribute("aria-sort") === "ascending";
    // All heat maps keep one order of topics, so that dimensions and evaluators can be compared.
    const tables = table.classList.contains("heat") ? all("table.heat") : [table];
    const place = topic => [...table.tBodies[0].rows].findIndex(row => row.cells[0].dataset.value === topic);
    sort(table, head.cellIndex, down);
    for (const other of tables) {
      if (other === table) continue;
      const rows = [...other.tBodies[0].rows].map(row => [place(row.cells[0].dataset.value), row]);
      other.tBodies[0].append(...rows.sort(([a], [b]) => a - b).map(([, row]) => row));
      for (const each of other.tHead.rows[0].cells) each.removeAttribute("aria-sort");
    }
  });
}

// The figures of a cell, and the way to its topic.
for (const table of all("table.heat")) {
  table.addEventListener("mouseover", ({target}) => {
    const cell = target.closest("td"), run = cell && runOf(cell);
    if (!run || cell.title) return;
    const difference = differenceIn(cell);
    const parts = [cell.closest("tr").cells[0].textContent.trim(), `${run}: ${cell.firstChild.textContent}`];
    if (difference) parts.push(`${difference} from the reference`);
    if (cell.dataset.judged) parts.push(`judged ${cell.dataset.judged}`);
    cell.title = parts.join("\n");
  });
  table.addEventListener("click", ({target}) => target.closest("tbody td")?.closest("tr").querySelector("a")?.click());
}

// Another reference: of each row its score is what the others are held against.
const refer = () => {
  const reference = named("reference").value, beside = named("beside").value;
  for (const table of all("table.heat")) {
    const heads = [...table.tHead.rows[0].cells], at = heads.findIndex(head => head.dataset.run === reference);
    const gone = heads.map(head => Boolean(beside && head.dataset.run && ![reference, beside].includes(head.dataset.run)));
    for (const row of table.rows) {
      if (row.cells.length < heads.length) continue;
      if (row.cells[at].matches("td") && !row.closest(".depths")) { // depths show means, which may be over other topics
        const held = row.cells[at].style.getPropertyValue("--v");
        held ? row.style.setProperty("--r", held) : row.removeAttribute("style");
        for (const cell of row.cells) {
          cell.removeAttribute("title");
          const figure = cell.querySelector("i") ?? (score(cell) >= 0 ? cell.appendChild(document.createElement("i")) : null);
          if (figure) figure.textContent = differenceIn(cell).replace("0.", ".");
        }
      }
      gone.forEach((hidden, column) => row.cells[column].hidden = hidden);
    }
  }
  for (const each of all(".reference")) each.textContent = reference;
  for (const item of all(".topic li")) {
    const runs = all(".places b", item).map(letter => letter.textContent), mine = runs.includes(reference), theirs = runs.includes(beside);
    item.hidden = Boolean(beside) && !mine && !theirs;
    item.dataset.whose = !beside || beside === reference ? "" : mine && theirs ? "both" : `only ${mine ? reference : beside}`;
  }
  for (const place of all(".places span")) place.hidden = Boolean(beside) && ![reference, beside].includes(place.firstChild.textContent);
};
for (const each of all(".scripted")) each.hidden = false;
// Names and tags that are cut off show the rest on focus.
for (const each of all(".name, .tagged")) if (each.scrollWidth > each.clientWidth) each.tabIndex = 0;
for (const name of ["reference", "beside"]) named(name)?.addEventListener("change", refer);

// A board shows the runs whose name, team or tag has all words of its filter, also those that aren't a team's best.
for (const filter of all(".filter")) {
  const board = filter.closest(".view, section").querySelector("table.board"), status = filter.closest("p").querySelector("[role=status]");
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean), rows = [...board.tBodies[0].rows];
    for (const row of rows) {
      const name = row.querySelector("th").textContent.toLowerCase();
      row.hidden = !words.every(word => name.includes(word));
      row.classList.toggle("found", words.length > 0 && !row.hidden);
    }
    status.textContent = words.length ? `${rows.filter(row => !row.hidden).length} of ${rows.length}` : "";
  });
}

// A link to a topic opens it, each time it is followed.
const open = hash => document.getElementById(decodeURIComponent(hash.slice(1)))?.closest("details")?.setAttribute("open", "");
for (const link of all('a[href^="#"]')) link.addEventListener("click", () => open(link.hash));
open(location.hash);
