// Colours of charts, from the page's style, so that both change together.

/* Okabe and Ito's colours, which the colour-blind tell apart, two of them darker so that they are
   seen on white; lines differ in dash and mark too. */
const SERIES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#a66f00", "#3a86b8"];
const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
const MARKS = ["circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down"];

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/* Red, green and blue of `#rgb` or `#rrggbb`. */
function parts(hex) {
  const digits = hex.length === 4 ? [...hex.slice(1)].map((one) => one + one).join("") : hex.slice(1);
  return [0, 2, 4].map((at) => parseInt(digits.slice(at, at + 2), 16));
}

function luminance(rgb) {
  const [red, green, blue] = rgb.map((part) => (part <= 10 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/* Black or white, whichever is read better on a colour so far from one to another: 4.5 to 1 at least on any. */
function readable(share, from, to) {
  const [least, most] = [parts(from), parts(to)];
  const light = luminance(least.map((part, one) => part + share * (most[one] - part)));
  return (light + 0.05) ** 2 > 1.05 * 0.05 ? "#000" : "#fff";
}

/* Text that a chart shows as it is: the library reads some markup. */
function plain(text) {
  return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

function hover(text) {
  return plain(text).replace(/\n/g, "<br>");
}

function axis(title, more) {
  return {
    // Beyond the numbers of the axis, however long they are.
    title: { text: plain(title), standoff: 10 },
    gridcolor: colour("grid"),
    linecolor: colour("rule"),
    zeroline: false,
    automargin: true,
    ...more,
  };
}

function layout(more) {
  return {
    paper_bgcolor: colour("panel"),
    plot_bgcolor: colour("paper"),
    font: { color: colour("text"), family: "system-ui, sans-serif", size: 12 },
    hoverlabel: { bgcolor: colour("paper"), bordercolor: colour("rule"), font: { color: colour("text") }, align: "left" },
    margin: { l: 60, r: 16, t: 12, b: 50 },
    showlegend: false,
    hovermode: "closest",
    dragmode: false,
    ...more,
  };
}

/* What the library may do: draw, and save a picture. Nothing that sends a chart elsewhere. */
const CONFIG = {
  displaylogo: false,
  plotlyServerURL: "",
  responsive: true,
  modeBarButtonsToRemove: ["sendChartToCloud", "lasso2d", "select2d"],
};

/* Draws, as high as is told: the place keeps its height where it is not shown and the window changes. */
function paint(plot, traces, more) {
  plot.style.height = `${more.height}px`;
  Plotly.react(plot, traces, layout(more), CONFIG);
}

/* An element with properties and children. */
function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}
