"use strict";
// Tables sort by a click on a header and filter by text, and a row opens to the
// runs it stands for. Without scripts they are read as they stand.
(function () {
  function value(cell) {
    var text = cell.textContent.replace(/[*†⚠]/g, "").replace("−", "-").trim();
    var number = parseFloat(text.replace(/^\+/, ""));
    return isNaN(number) ? null : number;
  }
  function close(row) {
    var next = row.nextElementSibling;
    if (next && next.className === "opened") { next.remove(); }
    var button = row.querySelector("button.open");
    if (button) { button.setAttribute("aria-expanded", "false"); }
  }
  function closeAll(table) { Array.prototype.slice.call(table.tBodies[0].rows).forEach(close); }
  function open(row, runs) {
    var cell = document.createElement("td");
    cell.colSpan = row.cells.length;
    runs.forEach(function (run) {
      var copy = run.cloneNode(true), part = document.createElement("div");
      var title = document.createElement("p");
      title.append.apply(title, copy.querySelector("summary").childNodes);
      copy.querySelector("summary").remove();
      part.append(title);
      part.append.apply(part, copy.childNodes);
      part.className = "run";
      cell.appendChild(part);
    });
    var opened = document.createElement("tr");
    opened.className = "opened";
    opened.appendChild(cell);
    row.after(opened);
    row.querySelector("button.open").setAttribute("aria-expanded", "true");
  }
  function opens(table, ids) {
    Array.prototype.forEach.call(table.tBodies[0].rows, function (row, i) {
      var runs = (ids[i] || "").split(" ").map(function (id) { return document.getElementById("run-" + id); })
        .filter(function (run) { return run; }).slice(0, 20);
      if (!runs.length) { return; }
      var button = document.createElement("button");
      button.type = "button";
      button.className = "open";
      button.setAttribute("aria-expanded", "false");
      button.setAttribute("aria-label", "Show the runs of this row");
      button.addEventListener("click", function () {
        if (button.getAttribute("aria-expanded") === "true") { close(row); } else { open(row, runs); }
      });
      row.cells[0].insertBefore(button, row.cells[0].firstChild);
    });
  }
  function sort(table, column, header) {
    closeAll(table);
    var ascending = header.getAttribute("aria-sort") !== "ascending";
    table.querySelectorAll("th").forEach(function (th) { th.removeAttribute("aria-sort"); });
    header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    var body = table.tBodies[0];
    var rows = Array.prototype.slice.call(body.rows);
    rows.map(function (row, i) { return { row: row, i: i, cell: row.cells[column] }; })
      .sort(function (a, b) {
        var x = value(a.cell), y = value(b.cell), order;
        if (x !== null && y !== null) { order = x - y; }
        else if (x !== null || y !== null) { return x === null ? 1 : -1; }
        else { order = a.cell.textContent.localeCompare(b.cell.textContent); }
        return (ascending ? order : -order) || a.i - b.i;
      })
      .forEach(function (entry) { body.appendChild(entry.row); });
  }
  function filter(table, text) {
    text = text.toLowerCase();
    closeAll(table);
    Array.prototype.forEach.call(table.tBodies[0].rows, function (row) {
      row.hidden = row.textContent.toLowerCase().indexOf(text) < 0;
    });
  }
  document.querySelectorAll(".table > table").forEach(function (table) {
    if (!table.tBodies.length) { return; }
    opens(table, (table.parentNode.getAttribute("data-runs") || "").split(","));
    if (table.tBodies[0].rows.length < 2) { return; }
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (header, column) {
      var button = document.createElement("button");
      button.type = "button";
      while (header.firstChild) { button.appendChild(header.firstChild); }
      header.appendChild(button);
      button.addEventListener("click", function () { sort(table, column, header); });
    });
    if (table.tBodies[0].rows.length > 4) {
      var input = document.createElement("input");
      input.type = "search";
      input.className = "filter";
      input.placeholder = "Filter rows";
      input.setAttribute("aria-label", "Filter rows");
      input.addEventListener("input", function () { filter(table, input.value); });
      table.parentNode.insertBefore(input, table);
    }
  });
})();
