"use strict";
// The page is whole without this: it adds fields to filter long tables, sorting by a click
// on a heading, buttons that copy commands, and unfolds everything on paper.
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  if (table.classList.contains("long")) {
    const field = document.createElement("input");
    field.type = "search";
    field.placeholder = "filter rows";
    field.setAttribute("aria-label", "filter the rows of this table");
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/);
      for (const row of body.rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((w) => text.includes(w));
      }
    });
    table.parentElement.before(field);
  }
  if (body.rows.length < 3) continue;
  heads.forEach((head, n) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((h) => h.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => row.cells[n].dataset.key ?? row.cells[n].textContent.replace(/[,%]/g, "");
      const rows = [...body.rows].sort((a, b) => key(a).localeCompare(key(b), "en", { numeric: true }));
      body.append(...(down ? rows.reverse() : rows));
    });
  });
}
for (const command of document.querySelectorAll(".command")) {
  if (!navigator.clipboard) break;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(command.querySelector("pre").textContent);
    button.textContent = "copied";
  });
  command.append(button);
}
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => (d.open = true)));
