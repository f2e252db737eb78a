"use strict";
// Sorting: click a column head; numbers by data-v, text as it reads.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const key = (row, i) => {
    const cell = row.cells[i];
    return cell.dataset.v === undefined ? cell.textContent.trim() : Number(cell.dataset.v);
  };
  const sort = (i) => {
    const down = heads[i].getAttribute("aria-sort") === "ascending";
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[i].setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...body.rows].sort((a, b) => {
      const x = key(a, i), y = key(b, i);
      const order = typeof x === "number" ? x - y : x.localeCompare(y, "en", { numeric: true });
      return down ? -order : order;
    });
    body.append(...rows);
  };
  heads.forEach((head, i) => {
    head.classList.add("click");
    head.tabIndex = 0;
    head.addEventListener("click", () => sort(i));
    head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(i); });
  });
}
// Filtering: every word must occur.
for (const box of document.querySelectorAll(".filter")) {
  box.hidden = false;
  const rows = box.parentElement.querySelectorAll(".instances tbody tr");
  box.querySelector("input").addEventListener("input", (event) => {
    const wanted = event.target.value.toLowerCase().split(/\s+/);
    for (const row of rows) {
      row.hidden = !wanted.every((word) => row.dataset.text.toLowerCase().includes(word));
    }
  });
}
// Curves: a gap of at most 0.01 % is drawn at 0.01 %, for the axis is logarithmic.
const curves = JSON.parse(document.getElementById("curves").textContent);
const SMALLEST = 1e-4, LARGEST = 10;
function draw(plot) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const section = plot.dataset.section;
  const which = document.querySelector(`input[name=g${section}]:checked`).value;
  const narrow = plot.clientWidth < 600;
  const traces = curves[section].map((curve) => {
    const xs = [SMALLEST], ys = [0];
    curve[which][0].forEach((x, i) => { xs.push(Math.max(x, SMALLEST)); ys.push(curve[which][1][i]); });
    xs.push(LARGEST); ys.push(ys[ys.length - 1]);
    return { name: curve.name, x: xs, y: ys, mode: "lines",
      line: { shape: "hv", width: 2, color: curve.color, dash: curve.dash },
      hovertemplate: "%{y:.0%} of instances within %{x:.3%}<extra>%{fullData.name}</extra>" };
  });
  const axis = { gridcolor: colour("--line"), zerolinecolor: colour("--line"), linecolor: colour("--line") };
  Plotly.react(plot, traces, {
    paper_bgcolor: colour("--paper"), plot_bgcolor: colour("--paper"),
    font: { color: colour("--ink"), family: "system-ui, sans-serif", size: 13 },
    margin: { l: 50, r: 10, t: 30, b: 45 }, hovermode: "closest",
    legend: narrow ? { orientation: "h", y: -0.25 } : { x: 1.02, y: 1 },
    xaxis: { ...axis, type: "log", range: [Math.log10(SMALLEST), which === "bound" ? 0.02 : 1],
      tickvals: [1e-4, 1e-3, 1e-2, 0.1, 1, 10], ticktext: ["≤0.01%", "0.1%", "1%", "10%", "100%", "1000%"],
      title: { text: { best: "gap to the best known answer", bound: "gap to the lower bound",
        ratio: "objective over that of the best entry, less 1" }[which] } },
    yaxis: { ...axis, range: [0, 1.03], tickformat: ".0%" },
  }, { responsive: true, displaylogo: false, toImageButtonOptions: { format: "svg" } });
}
async function inflate() {
  const packed = atob(document.getElementById("plotly").textContent);
  const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(stream).text();
  document.head.append(script);
  const plots = [...document.querySelectorAll(".plot")];
  for (const plot of plots) { plot.parentElement.hidden = false; draw(plot); }
  document.querySelectorAll("figure input").forEach((input) =>
    input.addEventListener("change", () => draw(input.closest("figure").querySelector(".plot"))));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plots.forEach(draw));
}
if ("DecompressionStream" in window) inflate();
