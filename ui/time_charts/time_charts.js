// Line charts over seconds that stay mounted while their data change: zoom, legend and the pointer's
// place are state of this file, never of Python.  data: see TimeChart in __init__.py.
const SVG = "http://www.w3.org/2000/svg";
const PAD = { left: 46, right: 14, top: 10, bottom: 24 };
const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600];

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".charts");
  if (!root.state) root.state = mount(root);
  const state = root.state;
  state.data = data;
  render(state);
  state.observer.observe(root);
  return () => state.observer.disconnect();
}

function mount(root) {
  const state = { root, hidden: new Set(), zoom: null, hover: null, drag: null, charts: [] };
  // A resize redraws; the first call comes with the first layout, when widths become known.
  state.observer = new ResizeObserver(() => render(state));
  return state;
}

function render(state) {
  const { data, root } = state;
  if (state.charts.length !== data.charts.length) {
    root.replaceChildren();
    state.charts = data.charts.map((spec) => build(state, spec));
  }
  state.charts.forEach((chart, i) => draw(state, chart, data.charts[i]));
}

function build(state, spec) {
  const figure = html("figure", spec.bare ? "chart bare" : "chart", state.root);
  const head = html("figcaption", "head", figure);
  html("span", "title", head).textContent = spec.title;
  html("span", "unit", head).textContent = spec.unit;
  const reset = html("button", "reset", head);
  reset.type = "button";
  reset.textContent = "Reset zoom";
  reset.onclick = () => zoomTo(state, null);
  const legend = html("div", "legend", figure);
  legend.hidden = spec.bare && spec.series.length < 2;
  const plot = html("div", "plot", figure);
  const svg = tag("svg", { role: "img" }, plot);
  const tip = html("div", "tip", plot);
  const chart = { figure, reset, svg, tip, plot, keys: [], x: null };
  chart.keys = spec.series.map((series) => legendKey(state, legend, spec, series));
  listen(state, chart);
  return chart;
}

function legendKey(state, legend, spec, series) {
  const id = `${spec.title}/${series.name}`;
  const button = html("button", "key", legend);
  button.type = "button";
  html("i", "", button).style.background = series.color;
  html("span", "", button).textContent = series.name;
  const value = html("b", "", button);
  button.onclick = () => {
    state.hidden.has(id) ? state.hidden.delete(id) : state.hidden.add(id);
    render(state);
  };
  return { id, button, value };
}

function listen(state, chart) {
  const seconds = (event) => {
    const box = chart.svg.getBoundingClientRect();
    return chart.x.back(event.clientX - box.left);
  };
  chart.svg.onpointermove = (event) => {
    state.hover = seconds(event);
    if (state.drag) state.drag.to = state.hover;
    state.from = chart;
    render(state);
  };
  chart.svg.onpointerleave = () => {
    if (state.drag) return;
    state.hover = null;
    render(state);
  };
  chart.svg.onpointerdown = (event) => {
    chart.svg.setPointerCapture(event.pointerId);
    state.drag = { from: seconds(event), to: seconds(event) };
  };
  chart.svg.onpointerup = () => {
    const { from, to } = state.drag ?? { from: 0, to: 0 };
    state.drag = null;
    if (Math.abs(to - from) >= 2) zoomTo(state, [Math.min(from, to), Math.max(from, to)]);
    else render(state);
  };
  chart.svg.ondblclick = () => zoomTo(state, null);
}

function zoomTo(state, range) {
  state.zoom = range;
  render(state);
}

function draw(state, chart, spec) {
  const width = chart.plot.clientWidth;
  const height = chart.plot.clientHeight;
  if (!width) return;
  const { data, hidden } = state;
  const [t0, t1] = state.zoom ?? data.range_s;
  const seen = [];
  data.t_s.forEach((t, i) => t >= t0 && t <= t1 && seen.push(i));
  const shown = spec.series.filter((_, k) => !hidden.has(chart.keys[k].id));
  const top = niceTop(Math.max(0, ...shown.flatMap((s) => seen.map((i) => s.values[i] ?? 0))));
  const roof = data.marks.length ? PAD.top + 14 : PAD.top; // the marks' names stand above the plot
  const x = scale(t0, t1, PAD.left, width - PAD.right);
  const y = scale(0, top, height - PAD.bottom, roof);
  chart.x = x;
  chart.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  chart.svg.setAttribute("aria-label", spoken(spec));
  chart.svg.replaceChildren();
  chart.reset.hidden = !state.zoom;
  drawGrid(chart.svg, x, y, { width, height, top, t0, t1 });
  drawMarks(chart.svg, x, data.marks, { t0, t1, height });
  const area = shown.length === 1 || spec.fill_first;
  shown.forEach((s, k) => drawLine(chart.svg, x, y, s, { t_s: data.t_s, seen, area: area && k === 0 }));
  spec.series.forEach((s, k) => {
    const off = hidden.has(chart.keys[k].id);
    chart.keys[k].button.classList.toggle("off", off);
    chart.keys[k].button.setAttribute("aria-pressed", String(!off));
    chart.keys[k].value.textContent = spec.bare ? "" : number(last(s.values), spec.decimals);
  });
  drawPointer(state, chart, spec, { x, y, shown, height });
}

function drawGrid(svg, x, y, { width, height, top, t0, t1 }) {
  for (let k = 0; k <= 4; k += 1) {
    const value = (top * k) / 4;
    tag("line", { x1: PAD.left, x2: width - PAD.right, y1: y(value), y2: y(value), class: "grid" }, svg);
    text(svg, PAD.left - 8, y(value) + 4, "end", compact(value));
  }
  const room = Math.max(2, Math.floor((width - PAD.left) / 70));
  const step = STEPS_S.find((s) => (t1 - t0) / s <= room) ?? 86400;
  for (let t = Math.ceil(t0 / step) * step; t <= t1; t += step) {
    text(svg, x(t), height - 6, "middle", clock(t));
  }
}

function drawMarks(svg, x, marks, { t0, t1, height }) {
  let free = -Infinity; // labels that would overlap the one before are left out
  for (const mark of marks) {
    if (mark.t_s < t0 || mark.t_s > t1) continue;
    const at = x(mark.t_s);
    tag("line", { x1: at, x2: at, y1: PAD.top - 2, y2: height - PAD.bottom, class: "mark" }, svg);
    if (at < free) continue;
    text(svg, at + 3, PAD.top + 6, "start", mark.label).classList.add("label");
    free = at + 10 + 6.2 * mark.label.length;
  }
}

function drawLine(svg, x, y, series, { t_s, seen, area }) {
  let path = "";
  let pen = "M";
  let first = null;
  for (const i of seen) {
    const value = series.values[i];
    if (value === null) {
      pen = "M";
      continue;
    }
    if (series.step && pen === "L") path += `H${x(t_s[i]).toFixed(1)}`;
    path += `${pen}${x(t_s[i]).toFixed(1)} ${y(value).toFixed(1)}`;
    first ??= i;
    pen = "L";
  }
  if (!path) return;
  if (area) {
    const end = x(t_s[seen.at(-1)]).toFixed(1);
    const fill = `${path}L${end} ${y(0)}L${x(t_s[first]).toFixed(1)} ${y(0)}Z`;
    tag("path", { d: fill, fill: series.color, class: "area" }, svg);
  }
  tag("path", { d: path, stroke: series.color, class: "line" }, svg);
}

function drawPointer(state, chart, spec, { x, y, shown, height }) {
  const { data, hover, drag } = state;
  chart.tip.hidden = true;
  if (drag && Math.abs(drag.to - drag.from) >= 1) {
    const [a, b] = [x(Math.min(drag.from, drag.to)), x(Math.max(drag.from, drag.to))];
    tag("rect", { x: a, y: PAD.top, width: b - a, height: height - PAD.top - PAD.bottom, class: "drag" }, chart.svg);
  }
  if (hover === null || !data.t_s.length) return;
  const i = nearest(data.t_s, hover);
  const at = x(data.t_s[i]);
  if (at < PAD.left - 1 || at > chart.plot.clientWidth) return;
  tag("line", { x1: at, x2: at, y1: PAD.top, y2: height - PAD.bottom, class: "pointer" }, chart.svg);
  for (const s of shown) {
    if (s.values[i] === null) continue;
    tag("circle", { cx: at, cy: y(s.values[i]), r: 3.5, fill: s.color, class: "dot" }, chart.svg);
  }
  if (state.from !== chart) return;
  chart.tip.hidden = false;
  chart.tip.replaceChildren();
  html("div", "when", chart.tip).textContent = `${clock(data.t_s[i])} since start`;
  for (const s of shown) {
    const row = html("div", "row", chart.tip);
    html("i", "", row).style.background = s.color;
    html("span", "", row).textContent = s.name;
    html("b", "", row).textContent = `${number(s.values[i], spec.decimals)} ${spec.short_unit}`;
  }
  const right = at > chart.plot.clientWidth / 2;
  chart.tip.style.left = right ? "" : `${at + 12}px`;
  chart.tip.style.right = right ? `${chart.plot.clientWidth - at + 12}px` : "";
}

function spoken(spec) {
  const now = spec.series.map((s) => `${s.name} ${number(last(s.values), spec.decimals)}`);
  return `${spec.title}, ${spec.unit}; latest: ${now.join(", ")}`;
}

function scale(d0, d1, r0, r1) {
  const k = (r1 - r0) / (d1 - d0 || 1);
  const map = (v) => r0 + (v - d0) * k;
  map.back = (p) => d0 + (p - r0) / k;
  return map;
}

function niceTop(max) {
  if (max <= 0) return 4;
  const unit = 10 ** Math.floor(Math.log10(max));
  return [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 4.8, 6, 8, 10].find((m) => m * unit >= max) * unit;
}

function nearest(times, t) {
  let best = 0;
  times.forEach((v, i) => Math.abs(v - t) < Math.abs(times[best] - t) && (best = i));
  return best;
}

function last(values) {
  return values.findLast((v) => v !== null) ?? null;
}

function clock(t) {
  const s = Math.round(t);
  const two = (n) => String(n).padStart(2, "0");
  const hours = Math.floor(s / 3600);
  return hours ? `${hours}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}` : `${Math.floor(s / 60)}:${two(s % 60)}`;
}

function number(value, decimals) {
  if (value === null || value === undefined) return "–";
  return value.toLocaleString("en-US", { maximumFractionDigits: value < 10 ? Math.max(1, decimals) : decimals });
}

function compact(value) {
  if (value >= 10000) return `${+(value / 1000).toPrecision(3)}k`;
  return (+value.toPrecision(3)).toLocaleString("en-US");
}

function html(name, className, parent) {
  const element = document.createElement(name);
  if (className) element.className = className;
  return parent.appendChild(element);
}

function tag(name, attributes, parent) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return parent.appendChild(element);
}

function text(svg, x, y, anchor, content) {
  const element = tag("text", { x, y, "text-anchor": anchor }, svg);
  element.textContent = content;
  return element;
}
