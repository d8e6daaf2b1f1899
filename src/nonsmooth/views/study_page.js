"use strict";
// The page of a study: a map of runs on a canvas; hovering tells, clicking keeps.
(() => {
  const study = JSON.parse(document.getElementById("study").textContent);
  const { columns, parameters, outputs } = study;
  const n = columns.status.length;
  const isNumber = (name) => columns[name].some((x) => typeof x === "number");
  const numeric = parameters.filter(isNumber);
  const shown = outputs.filter(isNumber);
  const canvas = document.getElementById("map");
  const context = canvas.getContext("2d");
  const margin = { left: 80, right: 110, top: 14, bottom: 46 };
  const limits = Object.fromEntries(numeric.map((name) => [name, extent(columns[name])]));
  let current = -1, kept = -1;

  function extent(values) {
    let low = Infinity, high = -Infinity;
    for (const x of values) if (typeof x === "number") { low = Math.min(low, x); high = Math.max(high, x); }
    return low <= high ? [low, high] : [0, 1];
  }
  function select(label, names, first) {
    const box = document.createElement("label");
    const list = document.createElement("select");
    box.append(`${label} `, list);
    for (const name of names) list.append(new Option(name, name, name === first, name === first));
    list.addEventListener("change", draw);
    document.getElementById("controls").append(box);
    return list;
  }
  const x = select("across", numeric, numeric[0]);
  const y = select("up", [...numeric, "(output)"], numeric.length > 1 ? numeric[1] : "(output)");
  const colour = select("output", shown, shown[0]);
  for (const name of numeric) {
    const row = document.createElement("div");
    row.append(`${name} from `, field(name, 0), " to ", field(name, 1));
    document.getElementById("filters").append(row);
  }
  function field(name, side) {
    const input = document.createElement("input");
    Object.assign(input, { type: "number", step: "any", value: limits[name][side] });
    input.style.width = "8rem";
    input.setAttribute("aria-label", `${name}, ${side ? "largest" : "least"}`);
    input.addEventListener("input", () => { limits[name][side] = input.valueAsNumber; draw(); });
    return input;
  }
  const isShown = (k) => numeric.every((name) => {
    const v = columns[name][k];
    return typeof v !== "number" || (v >= limits[name][0] && v <= limits[name][1]);
  });
  const up = () => (y.value === "(output)" ? colour.value : y.value);
  const scale = (values, from, to) => {
    const [low, high] = extent(values), width = high - low || 1;
    return (v) => from + ((v - low) / width) * (to - from);
  };
  // From dark blue over green to yellow, light growing all the way.
  const shade = (part) => `hsl(${260 - 200 * part}, 75%, ${22 + 43 * part}%)`;
  function place() {
    return {
      left: scale(columns[x.value], margin.left, canvas.width - margin.right),
      top: scale(columns[up()], canvas.height - margin.bottom, margin.top),
    };
  }
  function size() {
    const across = study.dims[x.value], along = study.dims[y.value];
    if (!across || !along) return [6, 6];
    const [w, h] = [canvas.width - margin.left - margin.right, canvas.height - margin.top - margin.bottom];
    return [Math.max(2, Math.ceil(w / across) + 1), Math.max(2, Math.ceil(h / along) + 1)];
  }
  function draw() {
    const at = place(), [w, h] = size();
    const tone = scale(columns[colour.value], 0, 1);
    context.clearRect(0, 0, canvas.width, canvas.height);
    for (let k = 0; k < n; k++) {
      const v = columns[colour.value][k], a = columns[x.value][k], b = columns[up()][k];
      if (!isShown(k) || typeof a !== "number" || typeof b !== "number") continue;
      context.fillStyle = typeof v === "number" ? shade(tone(v)) : "#bbb";
      context.fillRect(at.left(a) - w / 2, at.top(b) - h / 2, w, h);
    }
    mark(current, "#000", at, w, h);
    mark(kept, "#d55e00", at, w, h);
    label();
  }
  function mark(k, tint, at, w, h) {
    if (k < 0) return;
    const b = columns[up()][k];
    if (typeof b !== "number") return;
    context.strokeStyle = tint;
    context.lineWidth = 2;
    context.strokeRect(at.left(columns[x.value][k]) - w / 2 - 2, at.top(b) - h / 2 - 2, w + 4, h + 4);
  }
  const short = (v) => (typeof v === "number" ? Number(v.toPrecision(6)).toString() : String(v ?? ""));
  function label() {
    context.fillStyle = "#333";
    context.font = "13px system-ui, sans-serif";
    const [x0, x1] = extent(columns[x.value]), [y0, y1] = extent(columns[up()]), [c0, c1] = extent(columns[colour.value]);
    const bottom = canvas.height - margin.bottom;
    context.textAlign = "left"; context.fillText(short(x0), margin.left, bottom + 18);
    context.textAlign = "right"; context.fillText(short(x1), canvas.width - margin.right, bottom + 18);
    context.textAlign = "center"; context.fillText(x.value, (canvas.width + margin.left - margin.right) / 2, bottom + 36);
    context.textAlign = "right"; context.fillText(short(y0), margin.left - 8, bottom); context.fillText(short(y1), margin.left - 8, margin.top + 12);
    context.save(); context.translate(16, (bottom + margin.top) / 2); context.rotate(-Math.PI / 2);
    context.textAlign = "center"; context.fillText(up(), 0, 0); context.restore();
    for (let k = 0; k < 100; k++) {
      context.fillStyle = shade(k / 99);
      context.fillRect(canvas.width - 90, bottom - (k + 1) * 2, 14, 2);
    }
    context.fillStyle = "#333"; context.textAlign = "left";
    context.fillText(short(c0), canvas.width - 70, bottom); context.fillText(short(c1), canvas.width - 70, bottom - 190);
    context.fillText(colour.value, canvas.width - 90, bottom - 210);
  }
  function nearest(event) {
    const box = canvas.getBoundingClientRect(), at = place();
    const px = (event.clientX - box.left) * canvas.width / box.width, py = (event.clientY - box.top) * canvas.height / box.height;
    let best = -1, least = 400;
    for (let k = 0; k < n; k++) {
      const a = columns[x.value][k], b = columns[up()][k];
      if (!isShown(k) || typeof a !== "number" || typeof b !== "number") continue;
      const d = (at.left(a) - px) ** 2 + (at.top(b) - py) ** 2;
      if (d < least) { least = d; best = k; }
    }
    return best;
  }
  function tell(k) {
    const side = document.getElementById("run");
    side.replaceChildren();
    if (k < 0) return;
    const table = document.createElement("table");
    for (const name of [...parameters, ...outputs, "status", "message", "doubts"]) {
      const value = short(columns[name][k]);
      if (!value) continue;
      const row = table.insertRow();
      row.insertCell().textContent = name;
      row.insertCell().textContent = value;
    }
    const heading = document.createElement("h2"), code = document.createElement("code");
    heading.textContent = `run ${k}`;
    const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;
    const sets = parameters.map((name) => `--set ${quote(`${name}=${columns[name][k]}`)}`);
    code.textContent = [study.command, ...sets, "--report run.html"].join(" ");
    side.append(heading, table, "to see it move:", code);
  }
  canvas.addEventListener("mousemove", (event) => { current = nearest(event); draw(); tell(kept >= 0 ? kept : current); });
  canvas.addEventListener("mouseleave", () => { current = -1; draw(); tell(kept); });
  canvas.addEventListener("click", (event) => { kept = nearest(event); draw(); tell(kept); });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    kept = Math.min(n - 1, Math.max(0, kept + step));
    draw(); tell(kept);
  });
  if (numeric.length && shown.length) draw();
})();
