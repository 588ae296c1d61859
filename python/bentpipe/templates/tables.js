"use strict";
// Tables: a search, lists of values, and sorting by a click on a heading.
for (const box of document.querySelectorAll(".table")) {
  const body = box.querySelector("tbody");
  const rows = [...body.rows];
  const search = box.querySelector(".search");
  const choices = [...box.querySelectorAll(".choice")];
  const count = box.querySelector(".count");
  if (rows.length < 2) continue;
  if (rows.length > 5) box.querySelector(".controls").hidden = false;

  function filter() {
    const wanted = search.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      const fits = row.textContent.toLowerCase().includes(wanted)
        && choices.every((one) => one.value === "" || row.cells[one.dataset.column].textContent === one.value);
      row.hidden = !fits;
      shown += fits;
    }
    count.textContent = shown === rows.length ? `${shown} rows` : `${shown} of ${rows.length} rows`;
  }
  search.addEventListener("input", filter);
  for (const one of choices) one.addEventListener("change", filter);
  filter();

  box.querySelectorAll("th").forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      for (const other of box.querySelectorAll("th")) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const value = (row) => row.cells[column].dataset.number;
      const sign = down ? -1 : 1;
      // What has no number comes last, whichever way.
      const order = (one, other) => {
        const [a, b] = [value(one), value(other)];
        if (a !== undefined && b !== undefined) return sign * (Number(a) - Number(b));
        if (a !== undefined) return -1;
        if (b !== undefined) return 1;
        return sign * one.cells[column].textContent.localeCompare(other.cells[column].textContent);
      };
      body.append(...rows.sort(order));
    });
  });
}
