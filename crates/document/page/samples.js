// The samples behind a number: quantiles of all, and those that the page holds as dots or, where they are many,
// as a histogram.

const QUANTILES = ["least", "5 %", "25 %", "median", "75 %", "95 %", "most"];

function digits(value) {
  return value === null ? "-" : String(Number(value.toPrecision(4)));
}

function showSamples(of, title) {
  const dialog = document.getElementById("samples");
  if (!of) return;
  const { case: name, counted, unit } = of;
  document.getElementById("samples-title").textContent = title;
  const disturbed = of.disturbed ? `, ${of.disturbed} of them disturbed` : "";
  const left = of.disturbed && of.disturbed < of.all ? "; quantiles are of the others" : "";
  const held = of.values.length < of.all ? ` The page holds ${of.values.length} of them, evenly chosen; the record has all.` : "";
  document.getElementById("samples-about").textContent =
    `Case ${name}, ${counted}: ${of.all} samples${disturbed}${left}.${held} A figure's median is over rounds.`;
  const table = document.getElementById("samples-quantiles");
  const row = (cell, values) => element("tr", {}, ...values.map((value) => element(cell, { textContent: value, ...(cell === "th" && { scope: "col" }) })));
  table.tHead.replaceChildren(row("th", QUANTILES));
  table.tBodies[0].replaceChildren(row("td", of.quantiles.map(digits)));
  if (!dialog.open) dialog.showModal();
  drawValues(document.getElementById("samples-plot"), of, unit);
}

/* Fewer are shown one by one. */
const MANY_SAMPLES = 40;

/* One above the other where they would lie on each other. */
function dotsOf(values, name, fill, symbol, taken, size) {
  const height = (value) => {
    const column = Math.round(value / size);
    taken.set(column, (taken.get(column) ?? 0) + 1);
    return taken.get(column);
  };
  return {
    type: "scatter", mode: "markers", name, x: values, y: values.map(height), hoverinfo: "text", hovertext: values.map(digits),
    marker: { color: fill, symbol, size: 10, line: { color: colour("text"), width: 1 } },
  };
}

function drawValues(plot, of, unit) {
  const marked = new Set(of.marked);
  const split = (wanted) => of.values.filter((value, position) => value !== null && marked.has(position) === wanted);
  const known = of.values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const bins = Math.min(24, Math.max(6, Math.ceil(Math.sqrt(known.length))));
  const size = (high - low) / bins || Math.abs(high) / 100 || 1;
  const trace = (values, name, fill, shape) => {
    const counts = Array(bins).fill(0);
    values.forEach((value) => { counts[Math.min(bins - 1, Math.floor((value - low) / size))] += 1; });
    const ends = counts.map((_, bin) => [low + bin * size, low + (bin + 1) * size]);
    return {
      type: "bar", name, y: counts, x: ends.map(([from, to]) => (from + to) / 2), width: size, hoverinfo: "text",
      hovertext: ends.map(([from, to], bin) => hover(`${digits(from)} to ${digits(to)} ${unit}: ${counts[bin]} ${name}`)),
      marker: { color: fill, line: { color: colour("text"), width: 1 }, pattern: { shape } },
    };
  };
  const areFew = known.length < MANY_SAMPLES;
  const taken = new Map();
  const part = (values, name, fill, shape, symbol) =>
    (areFew ? dotsOf(values, name, fill, symbol, taken, (high - low) / 40 || 1) : trace(values, name, fill, shape));
  const traces = [part(split(false), "undisturbed", SERIES[0], "", "circle")];
  if (marked.size) traces.push(part(split(true), "disturbed", SERIES[1], "/", "x"));
  const median = of.quantiles[3];
  const shapes = median === null ? [] : [{
    type: "line", x0: median, x1: median, yref: "paper", y0: 0, y1: 1,
    line: { color: colour("text"), width: 2, dash: "dash" },
  }];
  paint(plot, traces, {
    height: 260, barmode: "stack", shapes, showlegend: marked.size > 0,
    xaxis: axis(unit),
    yaxis: axis("samples", areFew ? { dtick: Math.max(1, Math.ceil(Math.max(0, ...taken.values()) / 8)), range: [0, Math.max(4, ...taken.values()) + 1] } : {}),
  });
}
