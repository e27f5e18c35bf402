// Sorting, filtering, another reference, one run beside it, figures on hover, and files. All else needs no script.
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
// Names and tags that are cut off show the rest on focus, and when they are tapped.
for (const each of all(".name, .tagged")) {
  if (each.scrollWidth > each.clientWidth) each.tabIndex = 0;
  each.addEventListener("click", () => each.classList.toggle("whole"));
}
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

// Tables can be saved as they are shown, except for boards: their files have more columns, and need no script.
const figure = cell => {
  if (cell.style.getPropertyValue("--v")) return score(cell).toFixed(3);  // a heat map has no leading zeros
  const kept = cell.cloneNode(true);
  for (const each of all("small:not(.tagged), .tag", kept)) each.remove();
  return kept.textContent;
};
const plain = text => {
  const words = text.replace(/[▲▼↕]/g, "").replace(/−/g, "-").replace(/\s+/g, " ").trim();
  return words === "–" ? "" : /^\d{1,3}(,\d{3})+$/.test(words) ? words.replaceAll(",", "") : words.replace(/^([+-]?)\.(?=\d+$)/, (_, sign) => `${sign}0.`);
};
const grid = table => {
  const heads = [...table.tHead.rows[0].cells];
  const line = (row, main, small) => heads.flatMap((head, column) => {
    const cell = row.cells[column];
    return cell.hidden ? [] : head.dataset.small ? [main(cell), small(cell)] : [main(cell)];
  }).map(plain);
  const rows = all("tbody tr", table).filter(row => row.cells.length === heads.length);
  return [
    line(table.tHead.rows[0], head => head.textContent, head => head.dataset.small),
    ...rows.map(row => line(row, figure, cell => cell.querySelector("small")?.textContent ?? "")),
  ];
};
const csv = rows => rows.map(row => row.map(text => /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text).join(",")).join("\n") + "\n";
const escaped = text => text.replace(/[\\{}&%$#_~^<>|]/g, sign => ({
  "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}",
})[sign] ?? `\\${sign}`);
const latex = rows => {
  const [head, ...body] = rows.map(row => `${row.map(escaped).join(" & ")} \\\\`);
  const columns = rows[0].map((_, column) => rows.slice(1).every(row => /^[-+]?[\d.,]*$/.test(row[column])) ? "r" : "l").join("");
  return [`\\begin{tabular}{${columns}}`, "\\toprule", head, "\\midrule", ...body, "\\bottomrule", "\\end{tabular}", ""].join("\n");
};
for (const table of all("table:not(.board)")) {
  const link = (words, ending, type, text) => {
    const each = Object.assign(document.createElement("a"), {textContent: words, href: "#"});
    each.addEventListener("click", () => {
      const name = `${document.title} ${table.caption.innerText}`.replace(/[^\w-]+/g, "-").replace(/-+$/, "").toLowerCase();
      each.download = `${name}.${ending}`;
      each.href = `data:${type};charset=utf-8,${encodeURIComponent(text(grid(table)))}`;
    });
    return each;
  };
  const note = Object.assign(document.createElement("p"), {className: "note"});
  note.append("This table as a file: ", link("CSV", "csv", "text/csv", csv), ", ", link("LaTeX", "tex", "application/x-tex", latex), ".");
  table.parentElement.after(note);
}

// A link to a topic opens it, each time it is followed.
const open = hash => document.getElementById(decodeURIComponent(hash.slice(1)))?.closest("details")?.setAttribute("open", "");
for (const link of all('a[href^="#"]')) link.addEventListener("click", () => open(link.hash));
open(location.hash);
