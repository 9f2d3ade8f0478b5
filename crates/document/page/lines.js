// Series over two axes, with a legend of switches.

const SVG = "http://www.w3.org/2000/svg";

/* How a series looks: as it is told to, else by its place. There are 6 colours and 7 marks, so that
   the first 42 places have a pair of their own. */
function look(series, position) {
  if (series.tone) return { colour: colour(series.tone), dash: "solid", mark: TONE_MARKS[series.tone] };
  const place = series.place ?? position;
  const [hue, form] = series.look ?? [place, place];
  const turn = Math.floor(hue / SERIES.length);
  return {
    colour: SERIES[hue % SERIES.length],
    dash: DASHES[(form + turn) % DASHES.length],
    mark: MARKS[(form + 3 * turn) % MARKS.length],
  };
}

/* Verdicts differ in colour and in mark: worse points down, better up. */
const TONE_MARKS = { worse: "triangle-down", better: "triangle-up", same: "circle", unclear: "x" };

const DASH_LENGTHS = { solid: "", dash: "6 4", dot: "2 3", dashdot: "6 3 2 3", longdash: "10 4", longdashdot: "10 3 2 3" };

const hasLine = (series) => ["line", "edge", "band"].includes(series.style);

/* A dash in letters, where there is no line to be drawn. */
const DASH_SIGNS = { solid: "\u2014", dash: "- -", dot: "\u00b7\u00b7\u00b7", dashdot: "-\u00b7-", longdash: "\u2013 \u2013", longdashdot: "\u2013\u00b7\u2013" };

const GLYPHS = { circle: "\u25cf", square: "\u25a0", diamond: "\u25c6", "triangle-up": "\u25b2", cross: "\u271a", x: "\u2716", "triangle-down": "\u25bc", star: "\u2605" };

/* One picture of all series of a name. */
function swatch(all, series, position) {
  const { colour: stroke, dash, mark } = look(series, position);
  const same = all.filter((one) => one.name === series.name);
  const marked = same.find((one) => !["edge", "stars"].includes(one.style)) ?? same.find((one) => one.style === "stars");
  const make = (name, values) => {
    const made = document.createElementNS(SVG, name);
    Object.entries(values).forEach(([key, value]) => made.setAttribute(key, value));
    return made;
  };
  const picture = make("svg", { width: 34, height: 14, "aria-hidden": "true" });
  if (same.some(hasLine)) picture.append(make("line", { x1: 0, y1: 7, x2: 34, y2: 7, stroke, "stroke-width": 3, "stroke-dasharray": DASH_LENGTHS[dash] }));
  if (marked) {
    const glyph = make("text", { x: 17, y: 12, "text-anchor": "middle", style: `fill: ${stroke}; font-size: 14px` });
    glyph.textContent = GLYPHS[marked.style === "stars" ? "star" : mark];
    picture.append(glyph);
  }
  return picture;
}

function band(series, position) {
  const { colour: fill } = look(series, position);
  const back = (list) => [...list].reverse();
  return {
    type: "scatter", mode: "lines", x: [...series.x, ...back(series.x)], y: [...series.high, ...back(series.low)],
    fill: "toself", fillcolor: `${fill}33`, line: { width: 0 }, hoverinfo: "skip",
  };
}

function traceOf(series, position, hidden) {
  const { colour: color, dash, mark } = look(series, position);
  const away = (ends) => ends.map((end, one) => (end === null ? 0 : Math.abs(end - series.y[one])));
  const intervals = !["edge", "band"].includes(series.style) && series.low.some((low) => low !== null);
  return {
    type: "scatter",
    mode: series.style === "edge" ? "lines" : hasLine(series) ? "lines+markers" : "markers",
    x: series.x, y: series.y,
    customdata: series.x.map((_, one) => [position, one]),
    hovertext: series.words.map((words) => hover([series.name, ...words].join("\n"))), hoverinfo: "text",
    line: { color, dash, width: 2.5 },
    marker: { color, size: series.style === "stars" ? 14 : 9, symbol: series.style === "stars" ? "star" : mark, line: { color: colour("text"), width: 1 } },
    ...(intervals && { error_y: { type: "data", symmetric: false, array: away(series.high), arrayminus: away(series.low), color, thickness: 1.2, width: 3 } }),
    // A point on an axis is seen whole.
    cliponaxis: false,
    visible: !hidden,
  };
}

const KIB = 1024;

function sizeText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log(bytes) / Math.log(KIB) + 1e-9)));
  return `${Number((bytes / KIB ** power).toPrecision(3))} ${units[power]}`;
}

/* A step that parts an axis from 0 to here at whole numbers, with twelve marks at most. */
function wholeStep(most) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, most / 12)));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step * 12 >= most);
}

/* A logarithmic axis whose values are few is marked at them: thread counts, sizes. */
function lineAxis(described, values) {
  const title = described.title;
  if (described.scale !== "log") {
    const whole = described.ticks === "counts" ? { tick0: 0, dtick: wholeStep(Math.max(1, ...values)) } : {};
    return axis(title, { rangemode: described.scale === "near" ? "normal" : "tozero", ...whole });
  }
  const known = [...new Set(values)].filter((value) => value > 0).sort((one, next) => one - next);
  if (described.ticks === "round" || !known.length) return logAxis(title, known);
  // Labels are apart by a sixteenth of the axis at least.
  const least = Math.max(0.4, Math.log2(known.at(-1) / known[0]) / 16);
  const apart = known.reduce((kept, value) => (kept.length && Math.log2(value / kept.at(-1)) < least ? kept : [...kept, value]), []);
  const text = described.ticks === "counts" ? String : sizeText;
  return axis(title, { type: "log", tickmode: "array", tickvals: apart, ticktext: apart.map(text) });
}

/* Where the keyboard is. */
function ring([x, y]) {
  return {
    type: "scatter", mode: "markers", x: [x], y: [y], hoverinfo: "skip",
    marker: { size: 20, color: "rgba(0,0,0,0)", line: { color: colour("warn"), width: 3 } },
  };
}

/* 1, 2 and 5 of each decade that the values reach, each written in full; of many decades 1 alone. */
function decades(values) {
  const known = values.filter((value) => value > 0);
  if (!known.length) return [];
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const powers = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) powers.push(power);
  const steps = powers.length > 4 ? [1] : [1, 2, 5];
  return powers.flatMap((power) => steps.map((step) => Number(`${step}e${power}`)));
}

const logAxis = (title, values) => axis(title, { type: "log", tickmode: "array", tickvals: decades(values), ticktext: decades(values).map(String) });

function drawLines(view) {
  const { chart, state } = view;
  const all = state.layer.series;
  if (all[0]?.place === undefined) placeSeries(state.layer);
  const traces = [];
  // Marks lie above lines that are no measurement.
  const order = [...all.keys()].sort((one, next) => (all[next].style === "edge") - (all[one].style === "edge"));
  order.forEach((position) => {
    const series = all[position];
    const hidden = isHidden(state, series);
    if (series.style === "band" && !hidden) traces.push(band(series, position));
    traces.push(traceOf(series, position, hidden));
  });
  if (view.cursor && view.ring) traces.push(ring(view.ring));
  const shown = all.filter((series) => !isHidden(state, series));
  const plot = view.place.querySelector(".plot");
  view.isWide = plot.clientWidth >= WIDE;
  view.ends = view.isWide ? endsOf(all, shown) : [];
  view.named = "";
  const values = (key) => shown.flatMap((series) => series[key]);
  // Where a law is drawn is nothing to mark an axis at.
  const measured = shown.filter((series) => !["edge", "stars"].includes(series.style)).flatMap((series) => series.x);
  plot.style.minWidth = "280px";
  const longest = Math.max(0, ...view.ends.map(lengthOf));
  paint(plot, traces, {
    height: 440,
    margin: { l: 60, r: longest ? 28 + longest * LETTER : 16, t: 12, b: 50 },
    xaxis: { ...lineAxis(chart.x, measured.length ? measured : values("x")), ...(longest ? xRange(chart.x, values("x")) : {}) },
    yaxis: chart.y.scale === "log" ? logAxis(chart.y.title, values("y")) : lineAxis(chart.y, values("y")),
  });
  nameEnds(view);
}

/* Lines are named at their ends where there are few and there is room; the legend has all. */
const WIDE = 560, MOST_NAMED = 9, LONGEST_NAME = 30, LETTER = 6.6, LINE_HEIGHT = 15;

const lengthOf = (end) => end.name.length + end.sign.length;

/* Names differ at their ends as well as at their beginnings. */
function shortened(name) {
  const half = (LONGEST_NAME - 1) / 2;
  return name.length > LONGEST_NAME ? `${name.slice(0, Math.floor(half))}\u2026${name.slice(-Math.ceil(half))}` : name;
}

/* What is shown first has the colours that differ most. */
function placeSeries(layer) {
  const first = layer.series.filter((series) => series.shown);
  const rest = layer.series.filter((series) => !series.shown);
  [...first, ...rest].forEach((series, place) => { series.place = place; });
}

/* From end to end of what is shown: names beyond it need no room of the axis. */
function xRange(described, values) {
  const known = values.filter((value) => value !== null && (described.scale !== "log" || value > 0));
  if (!known.length) return {};
  const of = described.scale === "log" ? known.map(Math.log10) : known;
  const [least, high] = [Math.min(...of), Math.max(...of)];
  const low = described.scale === "from_zero" ? Math.min(0, least) : least;
  const room = 0.025 * (high - low || Math.abs(high) || 1);
  return { range: [low < 0 || described.scale !== "from_zero" ? low - room : low, high + room] };
}

function endsOf(all, shown) {
  const first = (name) => shown.find((one) => one.name === name && hasLine(one));
  const lines = [...new Set(shown.filter(hasLine).map((series) => series.name))].map(first);
  if (lines.length > MOST_NAMED) return [];
  return lines.map((series) => {
    const last = series.x.reduce((best, x, one) => (x > series.x[best] ? one : best), 0);
    const { colour: ink, dash, mark } = look(series, all.indexOf(series));
    // Colours come again where there are many lines; with its dash or mark each is itself.
    const sign = series.style === "edge" ? DASH_SIGNS[dash] : GLYPHS[mark];
    return { name: shortened(series.name), y: series.y[last], colour: ink, sign };
  });
}

/* Puts the names beside the plot, where no mark lies, at the heights of their ends, moved up and down as far as they
   would lie on each other. */
function nameEnds(view) {
  const plot = view.place.querySelector(".plot");
  if (plot.clientWidth && (plot.clientWidth >= WIDE) !== view.isWide) {
    view.draw();
    return;
  }
  const { yaxis } = plot._fullLayout;
  const ends = view.ends.map((end) => ({ ...end, at: yaxis.d2p(end.y) })).sort((one, next) => one.at - next.at);
  ends.forEach((end, position) => {
    end.to = position ? Math.max(end.at, ends[position - 1].to + LINE_HEIGHT) : end.at;
  });
  let lowest = yaxis._length;
  [...ends].reverse().forEach((end) => {
    end.to = Math.min(end.to, lowest);
    lowest = end.to - LINE_HEIGHT;
  });
  const onAxis = (value) => (yaxis.type === "log" ? Math.log10(value) : value);
  const annotations = ends.map((end) => ({
    xref: "paper", x: 1, y: onAxis(end.y), yshift: end.at - end.to, xshift: 4, xanchor: "left", yanchor: "middle", showarrow: false,
    text: `<span style="color:${end.colour};font-weight:bold">${end.sign}</span> ${plain(end.name)}`, font: { size: 12 },
  }));
  const named = JSON.stringify(annotations);
  if (named === view.named) return;
  view.named = named;
  Plotly.relayout(plot, { annotations });
}

/* What the reader has switched; else what the chart shows first. */
function isHidden(state, series) {
  return state.switched.has(series.name) ? !state.switched.get(series.name) : !series.shown;
}

function makeLegend(view) {
  const { state, place } = view;
  const all = state.layer.series;
  if (all[0]?.place === undefined) placeSeries(state.layer);
  const switchAll = (shown) => element("button", {
    type: "button", textContent: shown ? "all" : "none",
    onclick: () => { all.forEach((series) => state.switched.set(series.name, shown)); makeLegend(view); view.draw(); },
  });
  const isFirst = (series, position) => all.findIndex((one) => one.name === series.name) === position;
  const switches = all.flatMap((series, position) => !isFirst(series, position) ? [] :
    check([swatch(all, series, position), series.name], !isHidden(state, series), (shown) => {
      state.switched.set(series.name, shown);
      view.draw();
    }));
  place.querySelector(".legend").replaceChildren(...switches, ...(switches.length > 4 ? [switchAll(true), switchAll(false)] : []));
}

/* Arrow keys go from point to point of what is shown, which is told. */
function moveInLines(view, key) {
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }[key];
  if (!step) return false;
  const shown = view.state.layer.series.filter((series) => !isHidden(view.state, series));
  if (!shown.length) return false;
  const isPoint = key === "ArrowLeft" || key === "ArrowRight";
  let [line, point] = view.cursor ?? [0, -1];
  line = Math.min(line, shown.length - 1);
  if (isPoint) point += step; else line = (line + step + shown.length) % shown.length;
  point = Math.max(0, Math.min(shown[line].x.length - 1, point));
  view.cursor = [line, point];
  view.current = shown[line].behind[point];
  view.ring = [shown[line].x[point], shown[line].y[point]];
  view.currentTitle = shown[line].name;
  view.place.querySelector(".told").textContent = `${shown[line].name}: ${shown[line].words[point].join("; ")}`;
  view.draw();
  return true;
}
