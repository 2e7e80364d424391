"use strict";
// Tables sort by a click on a header and filter by text. Without scripts they
// are read as they stand.
(function () {
  function value(cell) {
    var text = cell.textContent.replace(/[*†⚠]/g, "").replace("−", "-").trim();
    var number = parseFloat(text.replace(/^\+/, ""));
    return isNaN(number) ? null : number;
  }
  function sort(table, column, header) {
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
    Array.prototype.forEach.call(table.tBodies[0].rows, function (row) {
      row.hidden = row.textContent.toLowerCase().indexOf(text) < 0;
    });
  }
  document.querySelectorAll(".table > table").forEach(function (table) {
    if (!table.tBodies.length || table.tBodies[0].rows.length < 2) { return; }
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
