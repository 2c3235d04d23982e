"use strict";
// Elements and pictures. Text only ever enters as text nodes.
function make(tag, attributes, ...children) {
  const svg = ["svg", "g", "path", "line", "rect", "text", "circle", "polygon", "title", "defs", "pattern", "clipPath"].includes(tag);
  const one = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {}))
    if (value !== null && value !== undefined && value !== false) one.setAttribute(name, value);
  for (const child of children.flat())
    if (child !== null && child !== undefined) one.append(child.nodeType ? child : String(child));
  return one;
}
function short(value) {
  if (value === null || value === undefined) return "?";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-3)) return value.toExponential(1).replace(".0e", "e").replace("e+", "e");
  return String(Number(value.toPrecision(3)));
}
function quantity(value, unit) {
  // Seconds in the unit that leaves one to three digits before the point.
  if (unit === "s" && value > 0 && value < 1) {
    const [name, size] = [["ms", 1e-3], ["µs", 1e-6], ["ns", 1e-9]].find(([, size]) => value >= size) || ["ns", 1e-9];
    return `${Number((value / size).toPrecision(3))} ${name}`;
  }
  if (unit === "B" && value >= 1024) {
    const power = Math.min(Math.floor(Math.log2(value) / 10), 5);
    return `${Number((value / 1024 ** power).toPrecision(3))} ${["", "K", "M", "G", "T", "P"][power]}iB`;
  }
  const counted = Number.isInteger(value) && Math.abs(value) < 1e7;  // every digit of a count
  return `${counted ? value : short(value)}${unit ? " " + unit : ""}`;
}
function measure(value, axis) { return /^seconds/.test(axis) ? quantity(value, "s") : short(value); }
const axisName = axis => axis.replace(/^seconds/, "time");
function scale(values, from, to, log, whole) {
  const known = values.filter(value => Number.isFinite(value) && (!log || value > 0));
  let low = Math.min(...known), high = Math.max(...known);
  if (!known.length) { low = 0; high = 1; }
  const near = log && high / low < 300;  // ticks at 1, 2 and 5
  if (near) { low = Math.log10(low); high = Math.log10(high); const room = 0.04 * (high - low) || 0.1; low -= room; high += room; }
  else if (log) { low = Math.floor(Math.log10(low) + 1e-9); high = Math.max(low + 1, Math.ceil(Math.log10(high) - 1e-9)); }
  else if (low === high) { low -= 0.5; high += 0.5; }
  const of = value => from + (to - from) * ((log ? Math.log10(value) : value) - low) / (high - low);
  of.ticks = [];
  if (near) { for (let k = Math.floor(low); k <= high; k++) for (const digit of [1, 2, 5]) { const at = digit * 10 ** k; if (Math.log10(at) >= low && Math.log10(at) <= high) of.ticks.push(at); } }
  else if (log) { const every = Math.ceil((high - low) / 6); for (let k = low; k <= high; k += every) of.ticks.push(10 ** k); }
  else {
    const rough = Math.max((high - low) / 5, whole ? 1 : 0), power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(k => k * power).find(k => k >= rough);
    for (let k = Math.ceil(low / step); k * step <= high + step * 1e-6; k++) of.ticks.push(k * step);
  }
  return of;
}
const COLOURS = ["var(--c0)", "var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)"];
const DASHES = ["", "7 4", "2 3", "9 3 2 3", "12 4", "4 2"];
const SHAPES = [
  (x, y) => make("circle", {cx: x, cy: y, r: 4}),
  (x, y) => make("rect", {x: x - 4, y: y - 4, width: 8, height: 8}),
  (x, y) => make("polygon", {points: `${x},${y - 5} ${x + 5},${y + 4} ${x - 5},${y + 4}`}),
  (x, y) => make("polygon", {points: `${x},${y - 6} ${x + 5},${y} ${x},${y + 6} ${x - 5},${y}`}),
  (x, y) => make("path", {d: `M${x - 4},${y - 4}L${x + 4},${y + 4}M${x + 4},${y - 4}L${x - 4},${y + 4}`, "stroke-width": 2}),
  (x, y) => make("path", {d: `M${x - 5},${y}H${x + 5}M${x},${y - 5}V${y + 5}`, "stroke-width": 2}),
];
// Pictures shrink to the screen; on a narrow one they have fewer units, so that words stay legible.
const NARROW = matchMedia("(max-width: 40rem)").matches, WIDE = NARROW ? 400 : 640, HIGH = 300, LEFT = 58, RIGHT = 14, TOP = 34, BOTTOM = 44;
function axes(svg, block, x, y) {
  for (const at of y.ticks) svg.append(make("line", {class: "grid", x1: LEFT, x2: WIDE - RIGHT, y1: y(at), y2: y(at)}),
    make("text", {x: LEFT - 6, y: y(at) + 4, "text-anchor": "end"}, measure(at, block.y)));
  for (const at of x.ticks) { const last = x(at) > WIDE - RIGHT - 12; svg.append(make("text", {x: last ? WIDE : x(at), y: HIGH - BOTTOM + 17, "text-anchor": last ? "end" : "middle"}, measure(at, block.x))); }
  svg.append(make("line", {x1: LEFT, x2: WIDE - RIGHT, y1: HIGH - BOTTOM, y2: HIGH - BOTTOM, stroke: "currentColor"}),
    make("text", {class: "soft", x: (LEFT + WIDE - RIGHT) / 2, y: HIGH - 6, "text-anchor": "middle"}, axisName(block.x)),
    make("text", {class: "soft", x: 4, y: 12}, axisName(block.y)));
}
function path(points, x, y, step) {
  return points.map(([a, b], at) => (at ? (step ? `H${x(a).toFixed(1)}V` : `L${x(a).toFixed(1)},`) : `M${x(a).toFixed(1)},`) + y(b).toFixed(1)).join("");
}
function curve(block) {
  // Move over it, or press the arrow keys, for the values; drag for a part of it.
  const hold = make("div", {class: "plot"}), readout = make("output", {class: "readout", "aria-live": "polite"}), whole = make("button", {type: "button", hidden: ""}, "Show all");
  const keys = [...new Set(block.series.flatMap(one => one.points.map(point => point[0])))].sort((a, b) => a - b);
  let span = null;
  function show(range) {
    span = range; const drawn = axesOf(block, range), {svg, x} = drawn, seen = keys.filter(key => !range || (key >= range[0] && key <= range[1]));
    const cross = make("line", {class: "cross", y1: TOP, y2: HIGH - BOTTOM, visibility: "hidden"}), brush = make("rect", {class: "brush", y: TOP, height: HIGH - BOTTOM - TOP, visibility: "hidden"});
    svg.append(brush, cross); svg.setAttribute("tabindex", 0);
    let at = -1, from = null;
    const place = event => (event.clientX - svg.getBoundingClientRect().left) / svg.getBoundingClientRect().width * WIDE;
    function point(k) {
      if (k < 0 || k >= seen.length) return;
      at = k; const key = seen[k]; cross.setAttribute("x1", x(key)); cross.setAttribute("x2", x(key)); cross.setAttribute("visibility", "visible");
      readout.textContent = `${axisName(block.x)} ${measure(key, block.x)}: ` + block.series.map(one => { const value = new Map(one.points).get(key), ends = [...(one.band || []), ...(one.bars || [])].find(each => each[0] === key);
        return value === undefined ? null : `${one.name} ${measure(value, block.y)}${ends ? ` (${measure(ends[1], block.y)} to ${measure(ends[2], block.y)})` : ""}`; }).filter(Boolean).join("; ");
    }
    svg.addEventListener("pointermove", event => {
      const now = place(event); if (from !== null) { brush.setAttribute("visibility", "visible"); brush.setAttribute("x", Math.min(from, now)); brush.setAttribute("width", Math.abs(now - from)); }
      let best = -1; seen.forEach((key, k) => { if (best < 0 || Math.abs(x(key) - now) < Math.abs(x(seen[best]) - now)) best = k; }); point(best);
    });
    svg.addEventListener("pointerdown", event => { if (event.pointerType !== "touch" && event.button === 0) { from = place(event); svg.setPointerCapture(event.pointerId); } });
    svg.addEventListener("pointerup", event => {
      if (from === null) return;
      const ends = [from, place(event)].sort((a, b) => a - b), inside = seen.filter(key => x(key) >= ends[0] && x(key) <= ends[1]); from = null; brush.setAttribute("visibility", "hidden");
      if (ends[1] - ends[0] > 12 && inside.length > 1) show([inside[0], inside[inside.length - 1]]);
    });
    svg.addEventListener("pointerleave", () => { if (from === null) cross.setAttribute("visibility", "hidden"); });
    svg.addEventListener("dblclick", () => show(null));
    svg.addEventListener("keydown", event => { const step = {ArrowLeft: -1, ArrowRight: 1}[event.key]; if (step) { event.preventDefault(); point(at < 0 ? (step > 0 ? 0 : seen.length - 1) : at + step); } else if (event.key === "Escape" && span) show(null); });
    hold.replaceChildren(svg); whole.hidden = !range;
  }
  whole.addEventListener("click", () => show(null));
  show(null);
  const banded = block.series.filter(one => one.band && one.band.length), signs = block.series.length > 1 || banded.length
    ? legend(block.series.map(one => one.name), block.series.map((one, at) => one.colour ?? at), block.series.map(one => one.alone ? "dot" : one.points.length <= 24 ? "both" : "line")) : null;
  if (banded.length) signs.append(make("li", {}, make("svg", {viewBox: "0 0 26 12", "aria-hidden": "true"},
    make("rect", {width: 26, height: 12, ...bandLook(banded.length > 1 ? "var(--ink)" : COLOURS[(banded[0].colour ?? block.series.indexOf(banded[0])) % 6])})), block.band || "band"));
  const figure = picture(block, hold, signs, () => valueTable(block));
  hold.after(make("div", {class: "under"}, readout, whole));
  return figure;
}
let clips = 0;
function axesOf(block, range) {
  const inside = points => range ? points.filter(one => one[0] >= range[0] && one[0] <= range[1]) : points;
  const all = block.series.flatMap(one => inside(one.points)), id = `clip-${++clips}`;
  const bands = block.series.flatMap(one => inside([...(one.band || []), ...(one.bars || [])]));
  const zones = range ? [] : block.zones || [];
  const x = scale([...all.map(one => one[0]), ...zones.flatMap(one => [one.from, one.to])], LEFT, WIDE - RIGHT, block.logx, all.every(one => Number.isInteger(one[0])));
  const y = scale([...all.map(one => one[1]), ...bands.flatMap(one => [one[1], one[2]]), ...(block.logy || range ? [] : [0])], HIGH - BOTTOM, TOP, block.logy);
  const svg = make("svg", {viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": `${block.title}: ${block.y} over ${block.x}. Arrow keys read the values.`},
    make("defs", {}, make("clipPath", {id}, make("rect", {x: LEFT - 5, y: TOP - 6, width: WIDE - LEFT - RIGHT + 10, height: HIGH - BOTTOM - TOP + 12}))));
  zones.forEach((one, at) => svg.append(
    make("rect", {x: x(one.from), y: TOP, width: x(one.to) - x(one.from), height: HIGH - BOTTOM - TOP, fill: `var(--zone${at % 2})`}),
    make("text", {class: "soft", x: (x(one.from) + x(one.to)) / 2, y: TOP - 5, "text-anchor": "middle"}, x(one.to) - x(one.from) < 56 ? one.short : one.label)));
  axes(svg, block, x, y);
  const drawn = make("g", {"clip-path": `url(#${id})`}); svg.append(drawn);
  block.series.forEach((one, at) => {
    const like = one.colour ?? at, alone = Boolean(one.alone);
    if (one.band && one.band.length) drawn.append(make("path", {d: path(one.band.map(b => [b[0], b[2]]), x, y) +
      path(one.band.map(b => [b[0], b[1]]).reverse(), x, y).replace("M", "L") + "Z", ...bandLook(COLOURS[like % 6])}));
    for (const [a, low, high] of one.bars || []) drawn.append(make("line", {x1: x(a), x2: x(a), y1: y(low), y2: y(high), stroke: COLOURS[like % 6], "stroke-width": 1.5}));
    if (!alone) drawn.append(make("path", {d: path(one.points, x, y, block.step), fill: "none", stroke: COLOURS[like % 6], "stroke-width": 2, "stroke-dasharray": DASHES[like % 6]}));
    if (alone || inside(one.points).length <= 24) for (const [a, b] of inside(one.points)) {
      const dot = SHAPES[like % 6](x(a), y(b)); dot.setAttribute("fill", COLOURS[like % 6]); dot.setAttribute("stroke", COLOURS[like % 6]); drawn.append(dot);
    }
  });
  for (const rule of block.rules || []) if (!range || (rule.x >= range[0] && rule.x <= range[1])) svg.append(
    make("line", {x1: x(rule.x), x2: x(rule.x), y1: TOP, y2: HIGH - BOTTOM, stroke: COLOURS[rule.colour % 6], "stroke-dasharray": "1 3"}));
  if (block.mark && (!range || (block.mark.x >= range[0] && block.mark.x <= range[1]))) {
    const at = x(block.mark.x), left = at > WIDE * 0.6;
    svg.append(make("line", {x1: at, x2: at, y1: TOP, y2: HIGH - BOTTOM, stroke: "currentColor", "stroke-dasharray": "3 3"}),
      make("text", {x: at + (left ? -5 : 5), y: HIGH - BOTTOM - 8, "text-anchor": left ? "end" : "start", "font-weight": 600}, block.mark.label));  // curves are high there
  }
  return {svg, x};
}
function spark(points) {
  const x = scale(points.map(one => one[0]), 1, 79), y = scale([0, ...points.map(one => one[1])], 19, 2);
  return make("svg", {class: "spark", viewBox: "0 0 80 20", "aria-hidden": "true"}, make("path", {d: path(points, x, y), fill: "none", stroke: "var(--c0)", "stroke-width": 1.5}));
}
function bandLook(colour) { return {fill: colour, "fill-opacity": 0.18, stroke: colour, "stroke-opacity": 0.6, "stroke-width": 1}; }
function legend(names, numbers, shapes) {
  return make("ul", {class: "legend"}, names.map((name, k) => {
    const sign = make("svg", {viewBox: "0 0 26 12", "aria-hidden": "true"}), at = numbers[k];
    if (shapes[k] !== "line") { const dot = SHAPES[at % 6](13, 6); dot.setAttribute("fill", COLOURS[at % 6]); dot.setAttribute("stroke", COLOURS[at % 6]); sign.append(dot); }
    if (shapes[k] !== "dot") sign.prepend(make("line", {x1: 0, x2: 26, y1: 6, y2: 6, stroke: COLOURS[at % 6], "stroke-width": 3, "stroke-dasharray": DASHES[at % 6]}));
    return make("li", {}, sign, name);
  }));
}
function valueTable(block) {
  const keys = [...new Set(block.series.flatMap(one => one.points.map(point => point[0])))].sort((a, b) => a - b);
  const of = block.series.map(one => new Map(one.points)), ends = block.series.map(one => new Map([...(one.band || []), ...(one.bars || [])].map(([at, low, high]) => [at, [low, high]])));
  const cell = (k, key) => !of[k].has(key) ? "" : measure(of[k].get(key), block.y) + (ends[k].has(key) ? ` (${ends[k].get(key).map(one => measure(one, block.y)).join(" to ")})` : "");
  return plain([block.x, ...block.series.map(one => one.name)], keys.map(key => [measure(key, block.x), ...of.map((_, k) => cell(k, key))]), block.title);
}
function plain(heads, rows, name) {
  return make("div", {class: "wide values", tabindex: 0, role: "group", "aria-label": `Values: ${name}`}, make("table", {},
    make("thead", {}, make("tr", {}, heads.map(head => head ? make("th", {scope: "col", class: "number"}, head) : make("td")))),
    make("tbody", {}, rows.map(row => make("tr", {}, row.map(cell => make("td", {class: /^[A-Za-z./]/.test(cell) ? null : "number"}, cell)))))));
}
function picture(block, svg, signs, values) {
  const figure = make("figure", {}, make("figcaption", {}, block.title), svg, signs);
  if (values) {
    const more = make("details", {}, make("summary", {}, "Values"));
    more.addEventListener("toggle", () => { if (more.open && more.children.length === 1) more.append(values()); });
    figure.append(more);
  }
  return figure;
}
function stack(block) {
  const top = Math.max(...block.rows.map(row => row.values.reduce((a, b) => a + b, 0))) || 1;
  const y = value => HIGH - BOTTOM - (HIGH - BOTTOM - TOP) * value / top;
  const svg = make("svg", {viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": `${block.title}; the values stand below`});
  const room = (WIDE - LEFT - RIGHT) / block.rows.length;
  const marks = scale([0, top], HIGH - BOTTOM, TOP);
  const every = Math.ceil((8 * Math.max(...block.rows.map(row => String(row.label).length)) + 6) / room);
  for (const at of marks.ticks) svg.append(make("line", {class: "grid", x1: LEFT, x2: WIDE - RIGHT, y1: y(at), y2: y(at)}), make("text", {x: LEFT - 6, y: y(at) + 4, "text-anchor": "end"}, measure(at, block.y)));
  block.rows.forEach((row, k) => {
    let sum = 0; const x = LEFT + k * room + room * 0.1;
    row.values.forEach((value, at) => {
      if (!value) return;
      svg.append(make("rect", {x, width: room * 0.8, y: y(sum + value), height: Math.max(0, y(sum) - y(sum + value)), fill: COLOURS[at % 6], stroke: "var(--plate)", "stroke-width": 1},
        make("title", {}, `${block.names[at]} at ${row.label}: ${measure(value, block.y)}`)));
      sum += value;
    });
    if (k % every === 0) svg.append(make("text", {x: x + room * 0.4, y: HIGH - BOTTOM + 17, "text-anchor": "middle"}, row.label));
  });
  svg.append(make("text", {class: "soft", x: (LEFT + WIDE - RIGHT) / 2, y: HIGH - 6, "text-anchor": "middle"}, block.x), make("text", {class: "soft", x: 4, y: 12}, axisName(block.y)));
  const drawn = block.names.map((_, at) => at).filter(at => block.rows.some(row => row.values[at]));
  return picture(block, svg, plates(drawn.map(at => block.names[at]), drawn.map(at => COLOURS[at % 6])), () => plain([block.x, ...block.names], block.rows.map(row => [row.label, ...row.values.map(value => measure(value, block.y))]), block.title));
}
function plates(names, fillings) {
  return make("ul", {class: "legend"}, names.map((name, at) => make("li", {}, make("svg", {viewBox: "0 0 26 12", "aria-hidden": "true"},
    make("rect", {width: 26, height: 12, fill: fillings[at % fillings.length]})), name)));
}
function tools(actions, told) {
  return make("div", {class: "tools"}, actions.map(([name, act]) => { const button = make("button", {type: "button"}, name); button.addEventListener("click", act); return button; }), told);
}
let hatches = 0;
function timeline(block) {
  // A row a location; what is drawn hatched is lost time.
  const ROW = 22, high = TOP + ROW * block.rows.length + BOTTOM, id = `hatch-${++hatches}`, left = 74, wide = NARROW ? WIDE : Math.max(WIDE, Math.min(1180, document.getElementById("main").clientWidth));
  const fillings = block.kinds.map((one, at) => one.hatched ? `url(#${id})` : one.plain ? "var(--rule)" : COLOURS[5 * at % 6]);
  const middle = row => TOP + ROW * (row + 0.5), shown = make("g"), told = make("output");
  const svg = make("svg", {class: "long", viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": `${block.title}; the sums are below`},
    make("defs", {}, make("pattern", {id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)"},
      make("rect", {width: 6, height: 6, fill: "var(--c1)"}), make("rect", {width: 2, height: 6, fill: "var(--back)"})),
      make("clipPath", {id: `${id}-span`}, make("rect", {x: left, y: 0, width: wide - RIGHT - left, height: high}))),
    block.rows.map((row, k) => make("text", {x: left - 6, y: middle(k) + 4, "text-anchor": "end"}, row.name)), shown,
    make("text", {class: "soft", x: (left + wide - RIGHT) / 2, y: high - 6, "text-anchor": "middle"}, block.x));
  const time = at => quantity(at * block.second, "s");
  svg.append(make("text", {class: "soft", x: 4, y: 12}, block.rows_are));
  let from = 0, to = block.end;
  function draw() {
    const x = scale([from, to], left, wide - RIGHT), inside = (begin, end) => end >= from && begin <= to, drawn = make("g", {"clip-path": `url(#${id}-span)`});
    block.rows.forEach((row, k) => {
      for (const [kind, begin, end] of row.bars) if (inside(begin, end)) drawn.append(make("rect", {x: x(begin), y: middle(k) - 8, width: Math.max(0.4, x(end) - x(begin)), height: 16, fill: fillings[kind]},
        make("title", {}, `${block.kinds[kind].name} on ${block.rows_are} ${row.name}: ${time(end - begin)} from ${time(begin)} on`)));
    });
    for (const [row, sent, to, received] of block.messages) if (inside(Math.min(sent, received), Math.max(sent, received))) drawn.append(make("line", {x1: x(sent), y1: middle(row), x2: x(received), y2: middle(to), stroke: "var(--soft)", "stroke-width": 0.7}));
    block.path.forEach(([row, begin, end], k) => {
      const before = block.path[k - 1];
      if (!inside(before ? before[2] : begin, end)) return;
      if (before) drawn.append(make("line", {x1: x(before[2]), y1: middle(before[0]), x2: x(begin), y2: middle(row), stroke: "var(--ink)", "stroke-width": 1}));
      drawn.append(make("line", {x1: x(begin), x2: x(end), y1: middle(row), y2: middle(row), stroke: "var(--ink)", "stroke-width": 2.5}));
    });
    const step = x.ticks[1] - x.ticks[0], digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step) + 1e-9)));
    shown.replaceChildren(...x.ticks.map(at => make("g", {}, make("line", {class: "grid", x1: x(at), x2: x(at), y1: TOP, y2: high - BOTTOM}), make("text", {x: x(at), y: high - BOTTOM + 17, "text-anchor": "middle"}, String(Number(at.toFixed(digits)))))), drawn);
    const [low, top] = [from, to].map(at => Number((at * block.second).toPrecision(6)));
    told.textContent = from > 0 || to < block.end ? `Details of this span: --time ${low}-${top}` : "";
  }
  function span(begin, length) {
    length = Math.min(Math.max(length, block.end / 2000), block.end);
    from = Math.min(Math.max(begin, 0), block.end - length); to = from + length; draw();
  }
  const zoom = (factor, at = 0.5) => { const length = (to - from) * factor; span(from + at * (to - from - length), length); };
  const move = by => span(from + by * (to - from), to - from), whole = () => span(0, block.end);
  const frame = make("div", {class: "timeline-frame", tabindex: 0, role: "group", "aria-label": `${block.title}: arrow keys move it, + and - zoom, 0 shows all`}, svg);
  const place = event => { const one = svg.getBoundingClientRect(); return ((event.clientX - one.left) * wide / one.width - left) / (wide - RIGHT - left); };
  frame.addEventListener("wheel", event => { if (!event.ctrlKey && document.activeElement !== frame) return; event.preventDefault(); zoom(event.deltaY > 0 ? 1.25 : 0.8, Math.min(Math.max(place(event), 0), 1)); }, {passive: false});
  const keys = {ArrowLeft: () => move(-0.1), ArrowRight: () => move(0.1), "+": () => zoom(0.5), "-": () => zoom(2), "0": whole};
  frame.addEventListener("keydown", event => { if (keys[event.key]) { event.preventDefault(); keys[event.key](); } });
  let held = null;
  frame.addEventListener("pointerdown", event => { held = place(event); });
  frame.addEventListener("pointermove", event => { if (!held || !event.buttons) { held = null; return; } const at = place(event); move(held - at); held = at; });
  draw();
  const drawn = block.kinds.map((_, kind) => kind).filter(kind => block.rows.some(row => row.bars.some(one => one[0] === kind)));
  const signs = plates(drawn.map(kind => block.kinds[kind].name), drawn.map(kind => fillings[kind]));
  signs.append(make("li", {}, make("svg", {viewBox: "0 0 26 12", "aria-hidden": "true"}, make("rect", {y: 4, width: 26, height: 4, fill: "var(--ink)"})), "critical path"));
  const sums = row => block.kinds.map((_, kind) => time(row.bars.filter(one => one[0] === kind).reduce((sum, one) => sum + one[2] - one[1], 0)));
  const figure = picture(block, frame, signs, () => plain([block.rows_are, ...block.kinds.map(one => one.name)], block.rows.map(row => [row.name, ...sums(row)]), block.title));
  figure.firstChild.after(tools([["Zoom in", () => zoom(0.5)], ["Zoom out", () => zoom(2)], ["Whole run", whole]], told));
  return figure;
}
function heat(block) {
  const most = Math.max(...block.rows.flat().filter(value => value !== ""), 0), wide = Math.max(...block.rows.map(row => row.length)), name = k => block.names[k] ?? k;
  const cell = value => {
    const one = make("td", {class: "number"}, value === "" ? "" : quantity(value, block.unit));
    if (value !== "" && most > 0) one.style.background = `color-mix(in srgb, var(--c1) ${Math.round(45 * value / most)}%, var(--back))`;
    return one;
  };
  return make("div", {class: "wide", tabindex: 0, role: "group", "aria-label": block.title}, make("table", {class: "heat"}, make("caption", {}, block.title),
    make("thead", {}, make("tr", {}, make("td", {}), Array.from({length: wide}, (_, k) => make("th", {scope: "col", class: "number"}, name(k))))),
    make("tbody", {}, block.rows.map((row, k) => make("tr", {}, make("th", {scope: "row"}, name(k)), row.map(cell))))));
}
function scatter(block) {
  const lines = block.lines || [];
  const x = scale([...block.points.map(one => one.x), ...lines.flatMap(one => one.points.map(p => p[0])), ...(block.areas || []).flat()], LEFT, WIDE - RIGHT, block.log);
  const y = scale([...block.points.map(one => one.y), ...lines.flatMap(one => one.points.map(p => p[1])), ...block.points.flatMap(one => one.band || []), ...(block.areas || []).flat()], HIGH - BOTTOM, TOP, block.log);  // a mark on the top edge is whole, and below the axis's name
  const svg = make("svg", {viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": `${block.title}; the values stand below`});
  axes(svg, block, x, y);
  for (const [low, high] of block.areas || []) svg.append(make("rect", {x: x(low), y: y(high), width: x(high) - x(low), height: y(low) - y(high), fill: "var(--zone1)"}));
  for (const one of lines) {
    const [a, b] = one.points[one.points.length - 1], [c, d] = one.points[0], level = b === d;
    svg.append(make("path", {d: path(one.points, x, y), fill: "none", stroke: "currentColor", "stroke-width": 1.5}),
      make("text", {x: level ? WIDE - RIGHT - 4 : (x(a) + x(c)) / 2 - 6, y: level ? y(b) - 6 : (y(b) + y(d)) / 2 - 6, "text-anchor": "end"}, one.name));
  }
  const order = block.order || [...new Set(block.points.map(one => one.kind))], kinds = order.filter(kind => block.points.some(one => one.kind === kind));
  for (const one of block.points) {
    const at = order.indexOf(one.kind), dot = SHAPES[at % 6](x(one.x), y(one.y));
    if (one.band) svg.append(make("line", {x1: x(one.x), x2: x(one.x), y1: y(one.band[0]), y2: y(one.band[1]), stroke: COLOURS[at % 6], opacity: 0.5}));
    const beside = block.points.slice(0, block.points.indexOf(one)).some(other => other.named && Math.abs(x(other.x) - x(one.x)) < 90 && Math.abs(y(other.y) - y(one.y)) < 14);
    if (one.named && !beside) svg.append(make("text", {x: x(one.x) + (x(one.x) > WIDE * 0.6 ? -7 : 7), y: y(one.y) - 6, "text-anchor": x(one.x) > WIDE * 0.6 ? "end" : "start"}, one.named));
    dot.setAttribute("fill", COLOURS[at % 6]); dot.setAttribute("stroke", COLOURS[at % 6]); dot.setAttribute("opacity", 0.85);
    dot.append(make("title", {}, `${one.name}: ${short(one.x)}, ${short(one.y)}`)); svg.append(dot);
  }
  const signs = legend(kinds, kinds.map(kind => order.indexOf(kind)), kinds.map(() => "dot"));
  if (block.areas) signs.append(...plates(["area of decision: score and utilization give the same number of packages"], ["var(--zone1)"]).children);
  return picture(block, svg, signs, () => plain(["", block.x, block.y, block.kinds], block.points.map(one => [one.name, short(one.x), short(one.y), one.kind]), block.title));
}
function topology(block) {
  // Boxes in boxes: a part of each level spans a number of cores. If the cores make the picture too
  // tall for the screen, the innermost boxes are the parts above them.
  const CORE = 28, GROUP = 68, GAP = 5, LINE = 16, last = block.levels.length - 1;
  function part(level, first, end, room, leaf) {
    const {name, text, cores} = block.levels[level], number = Math.floor(first / cores), label = [name && `${name}${cores < block.levels[0].cores ? ` ${number}` : ""}`, text].filter(Boolean);
    const title = make("title", {}, `${label.join(": ")}${level < last && cores > 1 ? `, cores ${first} to ${end - 1}` : ""}`);
    if (level === leaf) {
      const side = leaf === last ? CORE : GROUP, words = leaf === last ? [first] : [text, `${first}-${end - 1}`].filter(Boolean), deep = CORE + LINE * (words.length - 1);
      return {wide: side, high: deep, one: make("g", {}, title, make("rect", {width: side, height: deep, rx: 3, fill: "var(--back)", stroke: "var(--soft)"}), words.map((word, k) => make("text", {x: side / 2, y: CORE / 2 + 4 + LINE * k, "text-anchor": "middle"}, word)))};
    }
    const step = block.levels[level + 1].cores, count = Math.ceil((end - first) / step), beside = Math.min(count, Math.max(1, Math.floor(room / 150)));
    const inner = Array.from({length: count}, (_, k) => part(level + 1, first + k * step, Math.min(first + (k + 1) * step, end), room / beside - 2 * GAP, leaf));
    const wide = Math.max(...inner.map(one => one.wide)) + GAP, high = Math.max(...inner.map(one => one.high)) + GAP, most = Math.max(1, Math.min(count, Math.floor((room - GAP) / wide))), columns = Math.ceil(count / Math.ceil(count / most));
    const size = columns * wide + GAP, fits = words => words.length * 7 <= size - 2 * GAP, lines = fits(label.join(": ")) ? [label.join(": ")] : label.flatMap(words => fits(words) ? [words] : words.split(", ")).filter(fits), head = LINE * lines.length + GAP;
    inner.forEach(({one}, k) => one.setAttribute("transform", `translate(${GAP + k % columns * wide},${head + Math.floor(k / columns) * high})`));
    const tall = head + Math.ceil(count / columns) * high;
    return {wide: size, high: tall, one: make("g", {}, title, make("rect", {width: size, height: tall, rx: 4, fill: `var(--zone${level % 2})`, stroke: "var(--soft)"}), lines.map((words, k) => make("text", {x: GAP, y: LINE * (k + 1) - 2}, words)), inner.map(one => one.one))};
  }
  const drawn = leaf => part(0, 0, block.levels[0].cores, WIDE - 2, leaf), whole = drawn(last);
  const {wide, high, one} = whole.high > 2 * WIDE && last > 1 ? drawn(last - 1) : whole, svg = make("svg", {viewBox: `-1 -1 ${wide + 2} ${high + 2}`, role: "img", "aria-label": `${block.title}; the values are below`}, one);
  svg.style.maxWidth = `${1.1 * wide}px`;
  return picture(block, svg, null, () => plain(["Part", "Number", "Cores of each", "With"], block.levels.map(({name, text, cores}) => [name || "cache", String(Math.ceil(block.levels[0].cores / cores)), String(cores), text]), block.title));
}
