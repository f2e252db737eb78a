"use strict";
// Plots, drawn when they come into view. What they show stands in the tables too.
const SMALLEST = 1e-4, LARGEST = 10; // gaps beyond are drawn at the end of the axis: it is logarithmic
const FIRST = 10; // entries shown at first, where there are more than two beyond
const data = JSON.parse(document.getElementById("plots").textContent);
const narrow = () => innerWidth < 640;
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const seconds = (value) => {
  for (const [scale, unit] of [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]]) {
    if (Math.abs(value) >= scale) return `${Number((value / scale).toPrecision(3))} ${unit}`;
  }
  return value === 0 ? "0 s" : `${Number((value / 1e-9).toPrecision(3))} ns`;
};
const line = (curve, more) => ({ name: curve.name, mode: "lines", ...more,
  line: { width: curve.width || 2, color: curve.color, dash: curve.dash, ...(more.line || {}) } });
const times = (axis, all) => {
  const low = Math.floor(Math.log10(Math.min(...all))), high = Math.ceil(Math.log10(Math.max(...all)));
  const ticks = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
  return { ...axis, type: "log", tickvals: ticks, ticktext: ticks.map(seconds) };
};

const linear = (axis, end) => { // four or so round steps
  const rough = end / 4 || 1, size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * size).find((each) => each >= rough);
  const ticks = Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, i) => step * i);
  return { ...axis, tickvals: ticks, ticktext: ticks.map(seconds) };
};

function ecdf(curves, which, axis) {
  const traces = curves.map((curve) => {
    const xs = [SMALLEST], ys = [0];
    curve[which][0].forEach((x, i) => { xs.push(Math.max(x, SMALLEST)); ys.push(curve[which][1][i]); });
    xs.push(LARGEST); ys.push(ys[ys.length - 1]);
    return line(curve, { x: xs, y: ys, line: { shape: "hv" },
      hovertemplate: "%{y:.0%} of instances within %{x:.3%}<extra>%{fullData.name}</extra>" });
  });
  return [traces, {
    xaxis: { ...axis, type: "log", range: [Math.log10(SMALLEST), which === "bound" ? 0.02 : 1],
      tickvals: [1e-4, 1e-3, 1e-2, 0.1, 1, 10], ticktext: ["≤0.01%", "0.1%", "1%", "10%", "100%", "1000%"],
      title: { text: { best: "gap to the best known answer", bound: "gap to the lower bound",
        ratio: "objective over that of the best entry, less 1" }[which] } },
    yaxis: { ...axis, range: [0, 1.03], tickformat: ".0%", title: { text: "share of instances" } },
  }];
}
function anytime({ t, curves }, axis) {
  const traces = curves.map((curve) => line(curve, { x: t, y: curve.gap.map((y) => Math.max(y, SMALLEST)),
    line: { shape: "hv" }, text: t.map(seconds),
    hovertemplate: "%{y:.3%} after %{text}<extra>%{fullData.name}</extra>" }));
  return [traces, {
    xaxis: { ...times(axis, t), title: { text: "time of the run" } },
    yaxis: { ...axis, type: "log", range: [Math.log10(SMALLEST) - 0.05, 0.05],
      tickvals: [1e-4, 1e-3, 1e-2, 0.1, 1], ticktext: ["≤0.01%", "0.1%", "1%", "10%", "100%"],
      title: { text: "mean primal gap" } },
  }];
}
function scaling(curves, which, axis) {
  const time = which === "time";
  const traces = curves.map((curve) => line(curve, { mode: "lines+markers", x: curve.n,
    y: curve[which].map((y) => (y === null ? null : Math.max(y, time ? 1e-6 : SMALLEST))),
    customdata: curve.count, text: curve[which].map((y) => (time && y !== null ? seconds(y) : "")),
    hovertemplate: `%{x:.0f} nodes: ${time ? "%{text}" : "%{y:.3%}"}, %{customdata} instances<extra>%{fullData.name}</extra>` }));
  const values = traces.flatMap((trace) => trace.y).filter((y) => y > 0);
  const percent = { ...axis, type: "log", tickvals: [1e-4, 1e-3, 1e-2, 0.1, 1],
    ticktext: ["≤0.01%", "0.1%", "1%", "10%", "100%"], range: [Math.log10(SMALLEST) - 0.05, 0.05] };
  return [traces, {
    xaxis: { ...axis, type: "log", dtick: 1, title: { text: "nodes (three bins a decade)" } },
    yaxis: { ...(time && values.length ? times(axis, values) : percent),
      title: { text: { best: "mean gap to the best known", bound: "mean gap to the bound",
        time: "mean time of a run" }[which] } },
  }];
}
function gantt({ bars, end, devices, colors }, axis) {
  const traces = devices.map((name, k) => {
    const mine = bars.filter((bar) => bar[0] === k);
    return { type: "bar", orientation: "h", name, base: mine.map((bar) => bar[3]), x: mine.map((bar) => bar[4]),
      y: mine.map(([, lane, lanes]) => k + (lanes > 1 ? 0.8 * ((lane + 0.5) / lanes - 0.5) : 0)),
      width: mine.map((bar) => 0.8 / bar[2]),
      marker: { color: colors[k], line: { width: mine.length > 300 ? 0 : 0.5, color: colour("--paper") } },
      customdata: mine.map((bar) => [bar[5], seconds(bar[3]), seconds(bar[4])]),
      hovertemplate: "%{customdata[0]}<br>from %{customdata[1]}, takes %{customdata[2]}<extra>%{fullData.name}</extra>" };
  });
  return [traces, { barmode: "overlay", showlegend: false,
    xaxis: { ...linear(axis, end), range: [0, end * 1.01], title: { text: "time" } },
    yaxis: { ...axis, tickvals: devices.map((_, k) => k), ticktext: devices, range: [devices.length - 0.5, -0.5] },
  }];
}
function loads({ compute, receive, send, load, objective, devices }, axis) {
  const bar = (name, x, color, pattern) => ({ type: "bar", orientation: "h", name, x, y: devices,
    marker: { color, pattern: { shape: pattern, fillmode: "overlay", fgcolor: "#ffffff", fgopacity: 0.6, solidity: 0.25 } }, text: x.map(seconds), textposition: "none",
    hovertemplate: "%{y} " + name + ": %{text}<extra></extra>" });
  const traces = [bar("computes", compute, "#0072b2", ""), bar("receives", receive, "#e69f00", "/"),
    bar("sends", send, "#009e73", "\\"),
    { type: "scatter", mode: "markers", name: "load", x: load, y: devices, text: load.map(seconds),
      marker: { symbol: "line-ns-open", size: 22, color: colour("--ink"), line: { width: 3 } },
      hovertemplate: "%{y} load: %{text}<extra></extra>" }];
  const widest = Math.max(objective, ...compute.map((c, k) => c + receive[k] + send[k]));
  return [traces, { barmode: "stack", showlegend: true, legend: { orientation: "h", yref: "container", y: 0, yanchor: "bottom" },
    xaxis: { ...linear(axis, widest), range: [0, widest * 1.04], title: { text: "time a sample" } },
    yaxis: { ...axis, autorange: "reversed" },
    shapes: [{ type: "line", x0: objective, x1: objective, y0: 0, y1: 1, yref: "paper", line: { color: colour("--bad"), width: 2, dash: "dash" } }],
    annotations: [{ x: objective, y: 1, yref: "paper", yanchor: "bottom", xanchor: "right", showarrow: false,
      text: `objective ${seconds(objective)}`, font: { color: colour("--bad") }, bgcolor: colour("--paper") }],
  }];
}
function figure(box) {
  const content = data[box.dataset.plot];
  const line = colour("--line");
  const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true };
  const choice = box.querySelector(".choice") ? box.querySelector(".choice").value : content.kind;
  let traces, layout;
  if (content.kind === "gantt") [traces, layout] = gantt(content, axis);
  else if (content.kind === "loads") [traces, layout] = loads(content, axis);
  else if (choice === "anytime") [traces, layout] = anytime(content.anytime || content, axis);
  else if (choice.startsWith("scale-")) [traces, layout] = scaling(content.scaling, choice.slice(6), axis);
  else [traces, layout] = ecdf(content.ecdf, choice, axis);
  const chosen = new Set([...box.querySelectorAll(".legend input:checked")].map((input) => input.value));
  if (!box.querySelector(".legend").hidden) traces = traces.filter((trace) => chosen.has(trace.name));
  return { data: traces, layout: { paper_bgcolor: colour("--paper"), plot_bgcolor: colour("--paper"), showlegend: false,
    font: { color: colour("--ink"), family: "system-ui, sans-serif", size: 13 }, hovermode: "closest",
    margin: { l: 50, r: 10, t: 30, b: 45 }, ...layout } };
}
function draw(box) {
  const { data: traces, layout } = figure(box);
  Plotly.react(box.querySelector(".plot"), traces, layout, { responsive: true, displayModeBar: false });
}
function legend(box) {
  const content = data[box.dataset.plot], field = box.querySelector(".legend");
  const curves = content.ecdf || content.curves;
  if (!curves) return;
  const few = curves.length <= FIRST + 2;
  curves.forEach((curve, i) => {
    const label = document.createElement("label"), input = document.createElement("input");
    Object.assign(input, { type: "checkbox", value: curve.name, checked: few || i < FIRST });
    const dash = { solid: "", dash: "6 3", dot: "2 2", dashdot: "6 2 2 2" }[curve.dash];
    label.innerHTML = `<svg class="line" viewBox="0 0 24 8" aria-hidden="true"><path d="M0 4h24" stroke="${curve.color}" stroke-width="3" stroke-dasharray="${dash}"/></svg>`;
    label.prepend(input);
    label.append(curve.name);
    field.append(label);
  });
  const set = (value) => { field.querySelectorAll("input").forEach((input) => { input.checked = value; }); draw(box); };
  field.querySelector(".all").addEventListener("click", () => set(true));
  field.querySelector(".none").addEventListener("click", () => set(false));
  field.hidden = false;
}
function start() {
  const boxes = [...document.querySelectorAll(".plotted")].filter((box) => data[box.dataset.plot]);
  const drawn = new Set();
  const seen = new IntersectionObserver((found) => found.filter((each) => each.isIntersecting).forEach(({ target }) => {
    seen.unobserve(target);
    drawn.add(target);
    draw(target);
  }), { rootMargin: "300px" });
  for (const box of boxes) {
    const content = data[box.dataset.plot];
    box.hidden = false;
    if (content.devices) box.querySelector(".plot").style.height = `${Math.min(60, 9 + 3 * content.devices.length)}rem`;
    legend(box);
    box.addEventListener("change", () => draw(box));
    box.querySelector(".download").addEventListener("click", () => {
      const { data: traces, layout } = figure(box);
      Plotly.downloadImage({ data: traces, layout: { ...layout, showlegend: layout.barmode !== "overlay" } },
        { format: "svg", width: 1000, height: 560, filename: box.dataset.name.replace(/[^\w.-]+/g, "-") });
    });
    seen.observe(box);
  }
  document.addEventListener("themechange", () => drawn.forEach(draw));
  addEventListener("beforeprint", () => boxes.forEach((box) => { drawn.add(box); draw(box); }));
}
if (window.Plotly) start();
