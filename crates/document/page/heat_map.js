// A heat map: values in the cells, borders between groups, hatched where there is no figure.

function gridOf(chart, layer) {
  const rows = chart.rows.map(() => chart.columns.map(() => null));
  for (const cell of layer.cells) rows[cell.row][cell.column] = cell;
  return rows;
}

const NO_CASE = "the record has no such case";

function wordsOf(chart, cell) {
  return cell?.words ?? [chart.blank ?? NO_CASE];
}

/* Rows and columns that the layer has something for, by position. */
function used(chart, layer) {
  const of = (names, key) => names.map((_, position) => position)
    .filter((position) => layer.cells.some((cell) => cell[key] === position));
  return [of(chart.rows, "row"), of(chart.columns, "column")];
}

function borders(grid) {
  const lines = [];
  const part = (one, next, x0, y0, x1, y1) => {
    if (one?.group !== undefined && next?.group !== undefined && one.group !== next.group) {
      lines.push({ type: "line", x0, y0, x1, y1, line: { color: colour("text"), width: 4 } });
    }
  };
  grid.forEach((row, y) => row.forEach((cell, x) => {
    part(cell, row[x + 1], x + 0.5, y - 0.5, x + 0.5, y + 0.5);
    part(cell, grid[y + 1]?.[x], x - 0.5, y + 0.5, x + 0.5, y + 0.5);
  }));
  return lines;
}

/* Hatching and words of cells without figures. */
function absences(grid) {
  const hatch = { x: [], y: [] };
  const words = { x: [], y: [], text: [], hovertext: [] };
  grid.forEach((row, y) => row.forEach((cell, x) => {
    if (!cell?.absent) return;
    hatch.x.push(x - 0.47, x + 0.47, x + 0.47, x - 0.47, x - 0.47, null);
    hatch.y.push(y - 0.47, y - 0.47, y + 0.47, y + 0.47, y - 0.47, null);
    words.x.push(x);
    words.y.push(y);
    words.text.push(`${plain(cell.absent[0]).replace(" ", "<br>")}<br>(${cell.absent[1] + 1})`);
    words.hovertext.push(hover(cell.words.join("\n")));
  }));
  if (!words.x.length) return [];
  return [
    {
      type: "scatter", mode: "lines", ...hatch, fill: "toself", hoverinfo: "skip",
      line: { color: colour("soft"), width: 1 }, fillcolor: colour("panel"),
      // Words are read on it.
      fillpattern: { shape: "/", size: 8, fgcolor: colour("grid"), bgcolor: colour("panel") },
    },
    {
      type: "scatter", mode: "markers+text", ...words, textposition: "middle center", hoverinfo: "text",
      marker: { opacity: 0, size: 20 }, textfont: { color: colour("text"), size: 11 },
    },
  ];
}

/* What the cells say, each in the colour that is read on its own. */
function numbers(grid, figure, { zmin, zmax, colorscale: [[, least], [, most]] }) {
  const all = grid.flatMap((row, y) => row.flatMap((cell, x) => (figure(cell) ? [{ x, y, figure: figure(cell) }] : [])));
  const of = (value) => readable(zmax > zmin ? Math.min(1, Math.max(0, (value - zmin) / (zmax - zmin))) : 0, least, most);
  return {
    type: "scatter", mode: "text", hoverinfo: "skip", name: "numbers", cliponaxis: false,
    x: all.map(({ x }) => x), y: all.map(({ y }) => y), text: all.map((one) => plain(one.figure[1])),
    textfont: { size: 14, color: all.map((one) => of(one.figure[0])) },
  };
}

function drawHeatMap(view) {
  const { chart, state } = view;
  const [rows, columns] = used(chart, state.layer);
  const whole = gridOf(chart, state.layer);
  const grid = rows.map((row) => columns.map((column) => whole[row][column]));
  const statistic = chart.statistics[state.statistic];
  const figure = (cell) => cell?.figures[state.statistic] ?? null;
  const each = (value) => grid.map((row, y) => row.map((cell, x) => value(cell, y, x)));
  const name = (y, x) => `${chart.row_title}: ${chart.rows[rows[y]]}\n${chart.column_title}: ${chart.columns[columns[x]]}`;
  view.cells = each((cell, y, x) => ({ cell, title: name(y, x).replace("\n", ", ") }));
  const values = grid.flat().flatMap((cell) => figure(cell)?.[0] ?? []);
  const heat = {
    type: "heatmap",
    z: each((cell) => figure(cell)?.[0] ?? null),
    hovertext: each((cell, y, x) => hover(`${name(y, x)}\n${wordsOf(chart, cell).join("\n")}`)),
    hoverinfo: "text",
    // Bandwidths and times have the colours of the matrices above, the more the stronger.
    colorscale: [[0, colour("panel")], [1, colour(statistic.less ? "time" : "rate")]],
    // From 0 on: what differs by less than is seen looks alike.
    zmin: Math.min(0, ...values), zmax: Math.max(0, ...values) || 1,
    xgap: 1, ygap: 1,
    colorbar: { title: { text: plain(statistic.unit || "ratio"), side: "right" }, thickness: 14 },
  };
  const written = columns.length > 40 ? [] : [numbers(grid, figure, heat)];
  const shapes = state.borders ? borders(grid) : [];
  if (view.cursor) shapes.push(cursorShape(view.cursor));
  const plot = view.place.querySelector(".plot");
  plot.style.minWidth = `${Math.min(2400, 150 + columns.length * 44)}px`;
  // Short names stand level over their columns.
  const longest = Math.max(...columns.map((one) => chart.columns[one].length));
  const tickangle = longest * LETTER < (plot.clientWidth - 150) / columns.length ? 0 : "auto";
  const names = (list, kept) => ({
    tickmode: "array", tickvals: kept.map((_, position) => position), ticktext: kept.map((one) => plain(list[one])), showgrid: false,
  });
  paint(plot, [heat, ...written, ...absences(grid)], {
    height: Math.min(1600, 130 + rows.length * 34),
    margin: { l: 60, r: 8, t: 60, b: 8 },
    shapes,
    xaxis: axis(chart.column_title, { ...names(chart.columns, columns), side: "top", tickangle, range: [-0.5, columns.length - 0.5] }),
    yaxis: axis(chart.row_title, { ...names(chart.rows, rows), range: [rows.length - 0.5, -0.5] }),
  });
  const reasons = new Set(state.layer.cells.filter((cell) => cell.absent).map((cell) => cell.absent[1]));
  const told = [...reasons].sort((one, next) => one - next)
    .map((reason) => element("p", { textContent: `(${reason + 1}) ${chart.reasons[reason]}` }));
  if (grid.flat().some((cell) => !cell)) told.push(element("p", { textContent: `Blank: ${chart.blank ?? NO_CASE}.` }));
  if (grid.flat().some((cell) => cell && !cell.absent && !figure(cell))) {
    told.push(element("p", { textContent: `No number: ${statistic.blank ?? "it is not known there"}.` }));
  }
  if (grid.flat().some((cell) => figure(cell)?.[1].endsWith("!"))) told.push(element("p", { textContent: "!: something disturbed every sample." }));
  view.place.querySelector(".reasons").replaceChildren(...told);
}

function cursorShape([y, x]) {
  return {
    type: "rect", x0: x - 0.46, x1: x + 0.46, y0: y - 0.46, y1: y + 0.46,
    line: { color: colour("warn"), width: 4, dash: "dot" },
  };
}

/* Arrow keys go from cell to cell, which is told; Enter shows the samples of one. */
function moveInHeatMap(view, key) {
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  if (!steps[key]) return false;
  const clamp = (value, most) => Math.max(0, Math.min(most, value));
  const [y, x] = view.cursor ?? [0, 0];
  const [down, right] = view.cursor ? steps[key] : [0, 0];
  view.cursor = [clamp(y + down, view.cells.length - 1), clamp(x + right, view.cells[0].length - 1)];
  const { cell, title } = view.cells[view.cursor[0]][view.cursor[1]];
  view.place.querySelector(".told").textContent = `${title}: ${wordsOf(view.chart, cell).join("; ")}`;
  view.draw();
  return true;
}

function openCell(view, [y, x]) {
  const { cell, title } = view.cells[y]?.[x] ?? {};
  if (cell?.behind) view.samples(cell.behind, title);
}
