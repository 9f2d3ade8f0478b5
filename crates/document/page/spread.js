// Distributions of runs: points, density, quartiles, modes.

function drawSpread(view) {
  const { chart, state } = view;
  const traces = state.layer.groups.map((group, position) => {
    const { colour: color, mark } = look(position);
    return {
      type: "violin", y: group.values, name: plain(`${group.name} (${group.values.length} runs)`), x0: position,
      box: { visible: true }, points: "all", jitter: 0.5, pointpos: 0, spanmode: "hard",
      line: { color }, fillcolor: `${color}33`, marker: { color, symbol: mark, size: 5, opacity: 0.8 }, hoveron: "points+kde",
    };
  });
  const modes = { x: [], y: [], hovertext: [] };
  state.layer.groups.forEach((group, position) => group.modes.forEach(([value, words]) => {
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
  const groups = state.layer.groups;
  Plotly.react(view.place.querySelector(".plot"), traces, layout({
    height: 400,
    yaxis: axis(chart.axis),
    xaxis: axis("affinity", {
      tickmode: "array", tickvals: groups.map((_, position) => position),
      ticktext: groups.map((group) => plain(`${group.name} (${group.values.length} runs)`)), range: [-0.6, groups.length - 0.4],
    }),
  }), CONFIG);
  const told = groups.filter((group) => group.words)
    .map((group) => element("p", { textContent: `${group.name}: ${group.words}${group.modes.map(([, words]) => `; ${words}`).join("")}` }));
  view.place.querySelector(".reasons").replaceChildren(...told);
}

/* Violins come first, one for each group; the marks of their modes stand behind them. */
function openGroup(view, position) {
  const group = view.state.layer.groups[position];
  if (group) view.samples(group.behind, `${view.chart.title}: ${group.name}`);
}
