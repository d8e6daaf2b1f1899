"use strict";
// The page of a study: runs on a map or in a diagram. Hovering tells what a run was, a
// click opens it in the viewer. Its data stand in the page, or come from `nonsmooth
// serve`, which is then asked again while the study is under way.
(async () => {
  const element = (id) => document.getElementById(id);
  const canvas = element("map"), context = canvas.getContext("2d"), tip = element("tip");
  const margin = { left: 84, right: 132, top: 16, bottom: 52 };
  const CLOSE = 20; // px from the pointer to a run that it points at
  const POLL = 2000; // ms between two questions to a server
  const QUIET = 15; // s without news after which a study may have been stopped
  const PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442", "#555555"];
  const VIRIDIS = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37]];
  const live = new URLSearchParams(location.search).get("file");
  let study, columns, n = 0, current = -1, kept = -1, controls = null;
  const filters = new Map(); // by column: [low, high], or a Set of words

  // ---- data ------------------------------------------------------------------------

  const isNumber = (x) => typeof x === "number";
  const has = (test) => (name) => columns[name].some(test);
  const names = () => [...study.parameters, ...study.outputs];
  // Parameters that go in step make no map.
  const isZipped = () => Object.keys(study.dims).join() === "point";
  const numbers = (list) => list.filter(has(isNumber));
  const lists = () => study.outputs.filter(has(Array.isArray));
  const words = (list) => list.filter((name) => !has(isNumber)(name) && has((x) => typeof x === "string" && x !== "")(name));

  function extent(values) {
    let low = Infinity, high = -Infinity;
    for (const value of values) for (const x of Array.isArray(value) ? value : [value]) {
      if (!isNumber(x)) continue;
      if (x < low) low = x;
      if (x > high) high = x;
    }
    return low <= high ? [low, high] : [0, 1];
  }
  const short = (v) => {
    if (Array.isArray(v)) return v.slice(-6).map(short).join(", ");
    if (!isNumber(v)) return String(v ?? "");
    const size = Math.abs(v);
    return size !== 0 && (size < 1e-4 || size >= 1e7) ? v.toExponential(4).replace(/\.?0+e/, "e") : String(Number(v.toPrecision(6)));
  };
  const label = (name) => study.labels[name] ?? name;
  const isShown = (k) => {
    for (const [name, wanted] of filters) {
      const v = columns[name][k];
      if (wanted instanceof Set) { if (!wanted.has(v)) return false; }
      else if (isNumber(v) && (v < wanted[0] || v > wanted[1])) return false;
    }
    return true;
  };

  // ---- controls --------------------------------------------------------------------

  function select(id, label, options, first) {
    const box = document.createElement("label"), list = document.createElement("select");
    list.id = id;
    box.append(`${label} `, list);
    for (const name of options) list.append(new Option(name, name, name === first, name === first));
    list.addEventListener("change", draw);
    element("controls").append(box);
    return list;
  }
  function build() {
    const parameters = numbers(study.parameters), outputs = numbers(study.outputs), many = lists();
    if (parameters.length === 0) parameters.push("run");
    columns.run ??= Array.from({ length: n }, (_, k) => k);
    const up = [...parameters.slice(1), parameters[0], ...outputs, ...many];
    const first = parameters.length > 1 && !isZipped() ? parameters[1] : outputs[0] ?? many[0] ?? up[0];
    element("controls").replaceChildren();
    controls = {
      x: select("across", "across", [...parameters, ...outputs], parameters[0]),
      y: select("up", "up", [...new Set(up)], first),
      colour: select("colour", "colour", [...outputs, ...words(study.outputs), ...parameters, "status"], outputs[0]),
    };
    const box = element("filters");
    box.replaceChildren();
    for (const name of numbers(names())) box.append(range(name));
    for (const name of [...words(names()), "status"]) {
      const known = [...new Set(columns[name])];
      if (known.length > 1 && known.length <= 12) box.append(choice(name, known));
    }
  }
  function range(name) {
    const row = document.createElement("div"), ends = extent(columns[name]);
    const field = (side) => {
      const input = document.createElement("input");
      Object.assign(input, { type: "number", step: "any", placeholder: short(ends[side]) });
      input.setAttribute("aria-label", `${name}, ${side ? "largest" : "least"}`);
      input.addEventListener("input", () => {
        const wanted = filters.get(name) ?? [-Infinity, Infinity];
        wanted[side] = input.value === "" ? (side ? Infinity : -Infinity) : input.valueAsNumber;
        filters.set(name, wanted);
        draw();
      });
      return input;
    };
    const heading = document.createElement("span");
    heading.textContent = label(name);
    row.append(heading, field(0), " to ", field(1));
    return row;
  }
  function choice(name, known) {
    const row = document.createElement("div"), heading = document.createElement("span");
    heading.textContent = label(name);
    row.append(heading);
    for (const word of known) {
      const box = document.createElement("input"), own = document.createElement("label");
      Object.assign(box, { type: "checkbox", checked: true });
      box.addEventListener("change", () => {
        const wanted = filters.get(name) ?? new Set(known);
        if (box.checked) wanted.add(word); else wanted.delete(word);
        filters.set(name, wanted);
        draw();
      });
      own.append(box, short(word).slice(0, 40) || "none");
      row.append(own);
    }
    return row;
  }

  // ---- picture ---------------------------------------------------------------------

  const shade = (part) => {
    const x = Math.min(Math.max(part, 0), 1) * (VIRIDIS.length - 1), k = Math.min(Math.floor(x), VIRIDIS.length - 2);
    return `rgb(${VIRIDIS[k].map((a, i) => Math.round(a + (x - k) * (VIRIDIS[k + 1][i] - a))).join(",")})`;
  };
  /** Return a scale from values of a column to pixels, with its ticks. */
  function axis(name, from, to) {
    let [low, high] = extent(columns[name]);
    const isLog = study.logarithmic.includes(name) && low > 0;
    const f = isLog ? Math.log10 : (v) => v;
    if (low === high) { low -= Math.abs(low) || 1; high += Math.abs(high) || 1; }
    // Half a cell beside the outermost values of a grid.
    const part = Math.max(0.03, 0.51 / Math.max((study.dims[name] ?? 0) - 1, 1)), pad = (study.dims[name] > 1 ? part : 0.03) * (f(high) - f(low));
    const a = f(low) - pad, b = f(high) + pad;
    const at = (v) => from + ((f(v) - a) / (b - a)) * (to - from);
    return { at, ticks: isLog ? decades(low, high) : ticks(a, b) };
  }
  function ticks(a, b) {
    const raw = (b - a) / 6, power = 10 ** Math.floor(Math.log10(raw));
    const step = power * ([1, 2, 5, 10].find((x) => x * power >= raw) ?? 10);
    const found = [];
    for (let k = Math.ceil(a / step); k * step <= b; k++) found.push(k * step);
    return found;
  }
  function decades(low, high) {
    const found = [], parts = high > 30 * low ? [1] : [1, 2, 3, 5];
    for (let p = Math.floor(Math.log10(low)); p <= Math.log10(high) + 0.01; p++)
      for (const m of parts) if (m * 10 ** p >= low * 0.99 && m * 10 ** p <= high * 1.01) found.push(m * 10 ** p);
    return found;
  }
  /** Return the edges of cells around the values of a listed parameter, in pixels. */
  function edges(name, at) {
    const values = [...new Set(columns[name].filter(isNumber))].sort((a, b) => a - b).map(at);
    const half = (k) => (values[k + 1] - values[k]) / 2;
    const around = new Map();
    values.forEach((v, k) => around.set(v, [v - (k > 0 ? half(k - 1) : half(0) || 3), v + (k < values.length - 1 ? half(k) : half(k - 1) || 3)]));
    return around;
  }
  /** Return where runs are drawn. */
  function layout() {
    const x = controls.x.value, y = controls.y.value;
    const [w, h] = [canvas.clientWidth, canvas.clientHeight];
    const across = axis(x, margin.left, w - margin.right), along = axis(y, h - margin.bottom, margin.top);
    const isMap = x !== y && x in study.dims && y in study.dims;
    return { x, y, w, h, across, along, cells: isMap ? [edges(x, across.at), edges(y, along.at)] : null };
  }
  function box(view, k) {
    const a = columns[view.x][k], b = columns[view.y][k];
    if (!isNumber(a)) return [];
    const left = view.across.at(a);
    if (view.cells && isNumber(b)) {
      const [x0, x1] = view.cells[0].get(left), [y0, y1] = view.cells[1].get(view.along.at(b));
      return [[x0, Math.min(y0, y1), x1 - x0, Math.abs(y1 - y0)]];
    }
    const size = Array.isArray(b) ? 3.5 : 7;
    return (Array.isArray(b) ? b : [b]).filter(isNumber).map((v) => [left - size / 2, view.along.at(v) - size / 2, size, size]);
  }
  function tones() {
    const name = controls.colour.value;
    if (!has(isNumber)(name)) {
      const known = [...new Set(columns[name])];
      return { of: (v) => PALETTE[known.indexOf(v) % PALETTE.length], known };
    }
    const [low, high] = extent(columns[name]);
    return { of: (v) => (isNumber(v) ? shade(high > low ? (v - low) / (high - low) : 0.5) : "#c8c8c8"), low, high };
  }
  function draw() {
    if (!controls) return;
    const ratio = window.devicePixelRatio || 1, view = layout(), tone = tones(), colour = controls.colour.value;
    canvas.width = view.w * ratio; canvas.height = view.h * ratio;
    context.scale(ratio, ratio);
    context.clearRect(0, 0, view.w, view.h);
    frame(view);
    if (isZipped() || (view.x in study.dims && Object.keys(study.dims).length === 1)) curve(view);
    let shown = 0;
    for (let k = 0; k < n; k++) {
      if (!isShown(k)) continue;
      shown++;
      const places = box(view, k);
      context.fillStyle = tone.of(columns[colour][k]);
      for (const [x, y, w, h] of places) {
        if (view.cells) context.fillRect(x, y, w + 0.5, h + 0.5);
        else { context.beginPath(); context.arc(x + w / 2, y + h / 2, w / 2, 0, 7); context.fill(); }
      }
      if (columns.status[k] === "failed") cross(view, k, places);
    }
    for (const [k, tint] of [[current, "#000"], [kept, "#d55e00"]]) mark(view, k, tint);
    legend(view, tone, colour);
    element("shown").textContent = shown < n ? `${shown} of ${n} runs shown` : "";
  }
  /** Join runs over the one parameter of a study. */
  function curve(view) {
    context.strokeStyle = "#c8d4dc"; context.lineWidth = 1.2; context.beginPath();
    let isOn = false;
    for (let k = 0; k < n; k++) {
      const a = columns[view.x][k], b = columns[view.y][k];
      if (!isShown(k) || !isNumber(a) || !isNumber(b)) { isOn = false; continue; }
      context[isOn ? "lineTo" : "moveTo"](view.across.at(a), view.along.at(b));
      isOn = true;
    }
    context.stroke();
  }
  function cross(view, k, places) {
    const a = columns[view.x][k];
    if (!isNumber(a)) return;
    const [x, y] = places.length ? [places[0][0] + places[0][2] / 2, places[0][1] + places[0][3] / 2] : [view.across.at(a), view.h - margin.bottom - 6];
    context.strokeStyle = "#b00020"; context.lineWidth = 1.5; context.beginPath();
    context.moveTo(x - 4, y - 4); context.lineTo(x + 4, y + 4); context.moveTo(x - 4, y + 4); context.lineTo(x + 4, y - 4);
    context.stroke();
  }
  function mark(view, k, tint) {
    if (k < 0 || k >= n) return;
    context.strokeStyle = tint; context.lineWidth = 2;
    for (const [x, y, w, h] of box(view, k)) context.strokeRect(x - 2, y - 2, w + 4, h + 4);
  }
  function frame(view) {
    const bottom = view.h - margin.bottom, right = view.w - margin.right;
    context.font = "13px system-ui, sans-serif"; context.lineWidth = 1;
    context.strokeStyle = "#e6e6e6"; context.fillStyle = "#333";
    context.textAlign = "center";
    for (const v of view.across.ticks) { const x = view.across.at(v); line(x, margin.top, x, bottom); context.fillText(short(v), x, bottom + 18); }
    context.textAlign = "right";
    for (const v of view.along.ticks) { const y = view.along.at(v); line(margin.left, y, right, y); context.fillText(short(v), margin.left - 6, y + 4); }
    context.strokeStyle = "#999"; context.strokeRect(margin.left, margin.top, right - margin.left, bottom - margin.top);
    context.textAlign = "center"; context.fillText(label(view.x), (margin.left + right) / 2, bottom + 40);
    context.save(); context.translate(14, (bottom + margin.top) / 2); context.rotate(-Math.PI / 2);
    context.fillText(label(view.y), 0, 0); context.restore();
  }
  function line(x0, y0, x1, y1) { context.beginPath(); context.moveTo(x0, y0); context.lineTo(x1, y1); context.stroke(); }
  function legend(view, tone, name) {
    const left = view.w - margin.right + 16, bottom = view.h - margin.bottom;
    context.textAlign = "left"; context.fillStyle = "#333";
    context.fillText(label(name).slice(0, 18), left, margin.top + 10);
    if (tone.known) {
      tone.known.slice(0, 12).forEach((word, k) => {
        const y = margin.top + 28 + 18 * k;
        context.fillStyle = PALETTE[k % PALETTE.length]; context.fillRect(left, y - 9, 10, 10);
        context.fillStyle = "#333"; context.fillText((short(word) || "none").slice(0, 14), left + 15, y);
      });
      return;
    }
    const top = margin.top + 24, height = bottom - top;
    for (let k = 0; k < 100; k++) { context.fillStyle = shade(1 - k / 99); context.fillRect(left, top + (k * height) / 100, 14, height / 100 + 1); }
    context.fillStyle = "#333";
    for (let k = 0; k <= 4; k++) context.fillText(short(tone.high - (k / 4) * (tone.high - tone.low)), left + 20, top + (k / 4) * (height - 4) + 8);
  }

  // ---- runs ------------------------------------------------------------------------

  function nearest(event) {
    const frame = canvas.getBoundingClientRect(), view = layout();
    const px = event.clientX - frame.left, py = event.clientY - frame.top;
    let best = -1, least = CLOSE ** 2;
    for (let k = 0; k < n; k++) {
      if (!isShown(k)) continue;
      for (const [x, y, w, h] of box(view, k)) {
        const dx = Math.max(x - px, 0, px - x - w), dy = Math.max(y - py, 0, py - y - h);
        const d = dx * dx + dy * dy + 1e-6 * ((x + w / 2 - px) ** 2 + (y + h / 2 - py) ** 2);
        if (d < least) { least = d; best = k; }
      }
    }
    return best;
  }
  function facts(k) {
    const table = document.createElement("table");
    for (const name of [...names(), "status", "message", "doubts"]) {
      const value = short(columns[name][k]);
      if (value === "") continue;
      const row = table.insertRow();
      row.insertCell().textContent = label(name);
      row.insertCell().textContent = value;
    }
    return table;
  }
  function hover(event) {
    current = nearest(event);
    draw();
    tip.hidden = current < 0;
    if (current < 0) return;
    const heading = document.createElement("b");
    heading.textContent = `run ${current}`;
    tip.replaceChildren(heading, facts(current));
    const x = event.pageX + 16, y = event.pageY + 12;
    tip.style.left = `${Math.min(x, document.documentElement.clientWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${y}px`;
  }
  function tell(k) {
    const side = element("run");
    side.replaceChildren();
    if (k < 0) return;
    const heading = document.createElement("h2"), code = document.createElement("code");
    heading.textContent = `run ${k}`;
    code.textContent = command(k);
    side.append(heading, facts(k), "on the command line:", code);
  }
  function command(k) {
    const quote = (text) => (/^[\w.,:=+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
    const sets = study.parameters.flatMap((name) => study.paths[name].map((path) => `--set ${quote(`${path}=${columns[name][k]}`)}`));
    return [study.command, ...sets, `--until ${study.until[k] ?? study.until[0]}`, "--report run.html"].join(" ");
  }
  async function open(k) {
    kept = k;
    draw(); tell(k);
    if (k < 0) return;
    const view = element("view");
    const scene = document.querySelector(`script.scene[data-run="${k}"]`);
    if (scene) {
      show(k).srcdoc = page(scene.textContent);
    } else if (live !== null) {
      await compute(k);
    } else {
      view.replaceChildren();
      const held = [...document.querySelectorAll("script.scene")].map((one) => one.dataset.run);
      const which = held.length ? ` (runs ${held.join(", ")} are)` : "";
      view.textContent = `This run is not in the page${which}. The command above shows it, and \`nonsmooth serve\` opens any run of a study at a click.`;
    }
  }
  function show(k) {
    const frame = document.createElement("iframe"), heading = document.createElement("h2");
    heading.textContent = `run ${k}`;
    frame.title = `run ${k} in the viewer`;
    element("view").replaceChildren(heading, frame);
    frame.scrollIntoView({ behavior: "smooth", block: "nearest" });
    return frame;
  }
  /** Return the viewer with a run, as a page of its own. */
  const page = (scene) => `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>run</title></head><body><div id="nonsmooth"></div><script type="application/octet-stream" id="scene">${scene}<\/script><script>${element("viewer").textContent}<\/script></body></html>`;

  // ---- the server ------------------------------------------------------------------

  async function ask(address, body) {
    const options = body ? { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) } : {};
    const answer = await fetch(address, options), data = await answer.json();
    if (!answer.ok) throw new Error(data.error ?? answer.statusText);
    return data;
  }
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  async function compute(k) {
    const view = element("view");
    try {
      view.textContent = `run ${k}: starting …`;
      const { id } = await ask("api/studies/open", { file: live, run: k });
      for (;;) {
        const run = await ask(`api/runs/${id}`);
        if (kept !== k) return;
        if (run.has_scene && run.phase === "done") { show(k).src = `api/runs/${id}/view`; return; }
        if (run.phase === "done") throw new Error(run.message);
        view.textContent = `run ${k}: ${run.phase}, ${Math.round(100 * run.progress)} %`;
        await pause(200);
      }
    } catch (error) {
      view.textContent = `run ${k}: ${error.message}`;
    }
  }
  function take(data) {
    const isNew = study === undefined;
    study = data; columns = data.columns; n = columns.status.length;
    if (isNew || controls === null) build();
    else columns.run ??= Array.from({ length: n }, (_, k) => k);
    element("title").textContent = study.title;
    document.title = study.title;
    draw();
  }
  let news = performance.now(), before = null;
  function progress(counts) {
    const over = (counts.done ?? 0) + (counts.failed ?? 0), total = Object.values(counts).reduce((a, b) => a + b, 0);
    const parts = Object.entries(counts).map(([status, count]) => `${count} ${status}`);
    let text = `${total} runs: ${parts.join(", ")}`;
    const now = performance.now();
    if (before && over > before.over) news = now;
    before ??= { over, at: now };
    if (over < total && live !== null) {
      const rate = (1000 * (over - before.over)) / (now - before.at);
      if (rate > 0) text += `; ${rate.toPrecision(3)} a second, ${Math.ceil((total - over) / rate)} s left`;
      if ((now - news) / 1000 > QUIET) text += "; nothing new for a while: the study may have been stopped";
    }
    element("counts").textContent = text;
    const bar = element("bar");
    bar.hidden = over >= total;
    bar.max = total; bar.value = over;
    return over < total;
  }
  async function follow() {
    let stamp = "";
    for (;;) {
      let wait = POLL;
      try {
        const begin = performance.now();
        const data = await ask(`api/studies/data?file=${encodeURIComponent(live)}&since=${encodeURIComponent(stamp)}`);
        stamp = data.stamp;
        if (data.columns) take(data);
        if (!progress(data.counts)) return;
        // A large study takes long to send; it is not asked for all the time.
        wait = Math.max(POLL, 5 * (performance.now() - begin));
      } catch (error) {
        element("counts").textContent = error.message;
      }
      await pause(wait);
    }
  }

  canvas.addEventListener("mousemove", hover);
  canvas.addEventListener("mouseleave", () => { current = -1; tip.hidden = true; draw(); });
  canvas.addEventListener("click", (event) => { tip.hidden = true; void open(nearest(event)); });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter") void open(kept);
    if (!step || n === 0) return;
    event.preventDefault();
    do kept += step; while (kept > 0 && kept < n - 1 && !isShown(kept));
    kept = Math.min(n - 1, Math.max(0, kept));
    draw(); tell(kept);
  });
  window.addEventListener("resize", draw);
  const data = element("study");
  if (data) {
    const given = JSON.parse(data.textContent);
    take(given);
    progress(given.counts);
  } else await follow();
})();
