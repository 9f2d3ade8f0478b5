// The lists from which a reader chooses a layer of a chart.

/* How much a layer shows: what is drawn before anything is chosen shows most. */
function weight(chart, layer) {
  const marks = layer.cells ? layer.cells.filter((cell) => !cell.absent).length : (layer.series || layer.groups).length;
  const last = chart.selectors[chart.selectors.length - 1];
  const number = last ? parseFloat(last.options[layer.choice[layer.choice.length - 1]]) : 0;
  return [marks, Number.isFinite(number) ? number : 0];
}

function firstLayer(chart) {
  const told = chart.layers.find((layer) => chart.first?.every((option, position) => option === layer.choice[position]));
  if (told) return told;
  let [best, most] = [chart.layers[0], weight(chart, chart.layers[0])];
  for (const layer of chart.layers.slice(1)) {
    const next = weight(chart, layer);
    if (next[0] > most[0] || (next[0] === most[0] && next[1] > most[1])) [best, most] = [layer, next];
  }
  return best;
}

/* The layer that has this option and otherwise is most like the one before. */
function nearestLayer(chart, before, selector, option) {
  const like = (layer) => layer.choice.filter((one, position) => one === before.choice[position]).length;
  const of = chart.layers.filter((layer) => layer.choice[selector] === option);
  return of.reduce((best, layer) => (like(layer) > like(best) ? layer : best), of[0]);
}

function list(label, options, chosen, change) {
  if (options.length < 2) return element("span", { textContent: `${label}: ${options[0] ?? ""}` });
  const select = element("select", {}, ...options.map((option, value) => element("option", { value, textContent: option })));
  select.value = chosen;
  select.addEventListener("change", () => change(Number(select.value)));
  return element("label", {}, `${label} `, select);
}

function check(label, checked, change) {
  const box = element("input", { type: "checkbox", checked });
  box.addEventListener("change", () => change(box.checked));
  return element("label", {}, box, ...[label].flat());
}

/* Lists of a chart; each change draws. */
function makeSelectors(view) {
  const { chart, place, state } = view;
  const bar = place.querySelector(".selectors");
  const lists = chart.selectors.map((selector, position) =>
    list(selector.name, selector.options, state.layer.choice[position], (option) => {
      state.layer = nearestLayer(chart, state.layer, position, option);
      view.refresh();
    }));
  if (chart.statistics) {
    lists.push(list("Statistic", chart.statistics.map((one) => one.name), state.statistic, (option) => {
      state.statistic = option;
      view.draw();
    }));
  }
  if (chart.groups) {
    const plural = chart.groups.endsWith("s") ? "es" : "s";
    lists.push(check(`borders of the ${chart.groups}${plural}`, state.borders, (borders) => {
      state.borders = borders;
      view.draw();
    }));
  }
  bar.replaceChildren(...lists);
}

/* The lists follow where a choice moved others. */
function followSelectors(view) {
  const selects = view.place.querySelectorAll(".selectors select");
  let next = 0;
  view.chart.selectors.forEach((selector, position) => {
    if (selector.options.length > 1) selects[next++].value = view.state.layer.choice[position];
  });
}
