// Distributions of runs: each run as a dot; where they are many, their density and quartiles as well.

/* Fewer have no shape that a density could show. */
const MANY_RUNS = 24;

function drawSpread(view) {
  const { chart, state } = view;
  const groups = state.layer.groups;
  const name = (group) => plain(`${group.name} (${group.values.length} runs)`);
  const traces = groups.map((group, position) => {
    const { colour: color, mark } = look(group, position);
    const marker = { color, symbol: mark, opacity: 0.8, line: { color: colour("text"), width: 1 } };
    if (group.values.length < MANY_RUNS) return dots(group, position, { ...marker, size: 9 }, name(group), chart.axis);
    return {
      type: "violin", y: group.values, name: name(group), x0: position,
      box: { visible: true }, points: "all", jitter: 0.5, pointpos: 0, spanmode: "hard",
      line: { color }, fillcolor: `${color}33`, marker: { ...marker, size: 5 }, hoveron: "points+kde",
    };
  });
  const modes = { x: [], y: [], hovertext: [] };
  groups.forEach((group, position) => group.modes.forEach(([value, words]) => {
    modes.x.push(position);
    modes.y.push(value);
    modes.hovertext.push(hover(`${group.name}: ${words}`));
  }));
  if (modes.x.length) {
    traces.push({
      type: "scatter", mode: "markers", ...modes, hoverinfo: "text",
      marker: { symbol: "diamond", size: 16, color: colour("paper"), line: { color: colour("text"), width: 3 } },
    });
  }
  paint(view.place.querySelector(".plot"), traces, {
    height: 400,
    shapes: groups.flatMap((group, position) => (group.values.length < MANY_RUNS ? [medianLine(group, position)] : [])),
    yaxis: axis(chart.axis, { range: rangeOf(groups) }),
    xaxis: axis("affinity", {
      tickmode: "array", tickvals: groups.map((_, position) => position),
      ticktext: groups.map(name), range: [-0.6, groups.length - 0.4],
    }),
  });
  const told = groups.filter((group) => group.words)
    .map((group) => element("p", { textContent: `${group.name}: ${group.words}${group.modes.map(([, words]) => `; ${words}`).join("")}` }));
  view.place.querySelector(".reasons").replaceChildren(...told);
}

/* Over all runs, and a tenth of their middle at least: runs that differ by a hundredth lie together. */
function rangeOf(groups) {
  const values = groups.flatMap((group) => group.values).filter((value) => value !== null);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = Math.max(0.08 * (high - low), (0.1 * Math.abs(high + low) / 2 - (high - low)) / 2);
  return [low - room, high + room];
}

/* Side by side in their order, so that none hides another. */
function dots(group, position, marker, name, unit) {
  const count = group.values.length;
  return {
    type: "scatter", mode: "markers", name, marker, hoverinfo: "text", y: group.values,
    x: group.values.map((_, run) => position + (count > 1 ? 0.5 * (run / (count - 1) - 0.5) : 0)),
    hovertext: group.values.map((value, run) => hover(`${group.name}, run ${run + 1}: ${digits(value)}\n${unit}`)),
  };
}

function medianLine(group, position) {
  const sorted = group.values.filter((value) => value !== null).sort((one, next) => one - next);
  const middle = (sorted.length - 1) / 2;
  const median = (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
  return { type: "line", x0: position - 0.32, x1: position + 0.32, y0: median, y1: median, line: { color: colour("text"), width: 2 } };
}

/* Traces of groups come first, one for each; the marks of their modes stand behind them. */
function openGroup(view, position) {
  const group = view.state.layer.groups[position];
  if (group) view.samples(group.behind, `${view.chart.title}: ${group.name}`);
}
