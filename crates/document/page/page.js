// The page: every chart with its lists, the theme, samples, printing.

const DRAW = { heat_map: drawHeatMap, lines: drawLines, spread: drawSpread };

/* The data are packed: the browser unpacks them itself. */
async function unpack() {
  const packed = Uint8Array.from(atob(document.getElementById("data").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

const keyOf = (behind) => `${behind.case}\n${behind.counted}`;

function makeView(chart, sampled) {
  const place = document.getElementById(chart.id);
  const view = { chart, place, cells: [], cursor: null };
  view.state = { layer: firstLayer(chart), statistic: 0, borders: true, switched: new Map() };
  view.samples = (behind, title) => showSamples(sampled.get(keyOf(behind)), title);
  view.draw = () => {
    DRAW[chart.kind](view);
    // What is drawn changes with it: tests and assistive technology see that something did.
    place.dataset.drawn = String(Number(place.dataset.drawn ?? 0) + 1);
  };
  view.refresh = () => {
    view.cursor = null;
    followSelectors(view);
    if (chart.kind === "lines") makeLegend(view);
    view.draw();
  };
  makeSelectors(view);
  view.refresh();
  const plot = place.querySelector(".plot");
  plot.addEventListener("keydown", (event) => pressed(view, event));
  plot.on("plotly_click", (event) => clicked(view, event.points[0]));
  // Names at the ends of lines keep their distance in any width.
  if (chart.kind === "lines") plot.on("plotly_relayout", () => nameEnds(view));
  return view;
}

function pressed(view, event) {
  const moves = { heat_map: moveInHeatMap, lines: moveInLines };
  const isEnter = event.key === "Enter" && view.cursor;
  if (isEnter && view.chart.kind === "heat_map") openCell(view, view.cursor);
  else if (isEnter && view.current) view.samples(view.current, view.currentTitle);
  else if (!moves[view.chart.kind]?.(view, event.key)) return;
  event.preventDefault();
}

function clicked(view, point) {
  if (!point) return;
  if (view.chart.kind === "heat_map") openCell(view, [point.y, point.x]);
  if (view.chart.kind === "lines" && point.customdata) {
    const [line, one] = point.customdata;
    const series = view.state.layer.series[line];
    if (series.behind[one]) view.samples(series.behind[one], series.name);
  }
  if (view.chart.kind === "spread") openGroup(view, point.curveNumber);
}

async function start() {
  const data = await unpack();
  const sampled = new Map(data.samples.cases.map((of) => [keyOf(of), of]));
  const views = [];
  const drawAll = () => views.forEach((view) => view.draw());
  const theme = document.getElementById("theme");
  theme.addEventListener("change", () => {
    document.documentElement.dataset.theme = theme.value;
    drawAll();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  document.body.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-s]");
    if (!button) return;
    const title = button.closest("details, figure, article").querySelector("summary, figcaption, h2").textContent;
    showSamples(data.samples.cases[Number(button.dataset.s)], title);
  });
  // Charts are drawn where they are seen, one after the other, so that the page can be read and scrolled meanwhile.
  const left = new Map(data.charts.map((chart) => [document.getElementById(chart.id), chart]));
  const draw = (place) => {
    views.push(makeView(left.get(place), sampled));
    left.delete(place);
  };
  const waiting = [];
  const next = () => {
    const place = waiting.shift();
    // Not where the reader has gone on to another tab: there is no room to draw in.
    if (left.has(place) && !place.closest("[hidden]")) draw(place);
    if (waiting.length) setTimeout(next);
    else document.documentElement.dataset.ready = "true";
  };
  const drawWithin = (section) => {
    delete document.documentElement.dataset.ready;
    waiting.push(...[...left.keys()].filter((place) => section.contains(place)));
    setTimeout(next);
    views.filter((view) => section.contains(view.place)).forEach((view) => Plotly.Plots.resize(view.place.querySelector(".plot")));
  };
  makeTabs(drawWithin);
  followReader();
  markScrolling();
  document.querySelectorAll("main > section").forEach(drawWithin);
  printing(views, theme, () => [...left.keys()].forEach(draw));
}

/* On paper: light, as wide as the paper, every tab and every table open. */
function printing(views, theme, drawRest) {
  let closed = [], away = [];
  const resize = (width) => views.forEach((view) => {
    const plot = view.place.querySelector(".plot");
    plot.style.width = width;
    view.draw();
    Plotly.Plots.resize(plot);
  });
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("main details:not([open])")];
    closed.forEach((details) => { details.open = true; });
    away = [...document.querySelectorAll("[role=tabpanel][hidden]")];
    away.forEach((panel) => panel.removeAttribute("hidden"));
    drawRest();
    document.documentElement.dataset.theme = "light";
    resize("660px");
  });
  addEventListener("afterprint", () => {
    closed.forEach((details) => { details.open = false; });
    document.documentElement.dataset.theme = theme.value;
    resize("");
    away.forEach((panel) => panel.setAttribute("hidden", AWAY));
  });
}

start();
