// A task graph in rows, which can be moved and zoomed; whatever the pointer is on is told below it.
function graph(block) {
  const STEP = 150, BOX = 124, TALL = 40, LINES = [0, 2, 5, 3, 4], row = block.row * STEP;
  const xs = block.boxes.map(one => STEP * one[0]), ys = block.boxes.map(one => row * one[1]);
  const whole = [-STEP / 2 - 10, -TALL, Math.max(...xs, 0) + STEP + 20, Math.max(...ys, 0) + 2 * TALL];
  const svg = make("svg", {class: "graph", role: "img", "aria-label": `${block.title}. ${block.told}`});
  svg.style.aspectRatio = `${whole[2]} / ${whole[3]}`; svg.style.maxHeight = `min(75vh, 48rem, ${1.3 * whole[3]}px)`;
  const colour = group => group < 0 ? "var(--soft)" : COLOURS[LINES[group]];
  const edges = block.edges.map(([source, target, points, count, marked]) => {
    const at = points.map(([x, y]) => [STEP * x, row * y]), down = at[at.length - 1][1] > at[0][1] ? 1 : -1;
    at[0][1] += down * (block.boxes[source][7] ? 9 : TALL / 2); at[at.length - 1][1] -= down * (block.boxes[target][7] ? 9 : TALL / 2);
    let line = `M${at[0]}`;
    for (let k = 1; k < at.length; k++) { const bend = (at[k][1] - at[k - 1][1]) / 2; line += `C${at[k - 1][0]},${at[k - 1][1] + bend} ${at[k][0]},${at[k][1] - bend} ${at[k]}`; }
    return make("path", {d: line, class: marked ? "edge marked" : "edge", "stroke-width": marked ? 2.5 : 0.8 + Math.min(count, 10) / 10});
  });
  svg.append(...edges.filter((_, k) => !block.edges[k][4]), ...edges.filter((_, k) => block.edges[k][4]));
  const shapes = block.boxes.map(([, , title, below, said, share, group, join, marked], k) => {
    const x = xs[k], y = ys[k], shape = make("g", {class: marked ? "box marked" : "box"});
    if (join) shape.append(make("circle", {cx: x, cy: y, r: 9, fill: "var(--back)"}));
    else shape.append(make("rect", {x: x - BOX / 2, y: y - TALL / 2, width: BOX, height: TALL, rx: 5, fill: "var(--back)"}),
      make("rect", {class: "tint", x: x - BOX / 2, y: y - TALL / 2, width: BOX, height: TALL, rx: 5, fill: colour(group), "fill-opacity": 0.22}),
      make("rect", {class: "tint", x: x - BOX / 2 + 4, y: y + TALL / 2 - 7, width: (BOX - 8) * share, height: 4, fill: colour(group)}),
      make("text", {x, y: y - 5, "text-anchor": "middle"}, title.length > 20 ? title.slice(0, 19) + "…" : title),
      make("text", {x, y: y + 9, "text-anchor": "middle"}, below));
    shape.append(make("title", {}, said)); shape.dataset.at = k; svg.append(shape); return shape;
  });
  const told = make("output", {}, block.told), frame = make("div", {class: "graph-frame", tabindex: 0, role: "group", "aria-label": `${block.title}: arrow keys move it, + and - zoom, 0 shows all`}, svg);
  let view = [...whole];
  const show = () => svg.setAttribute("viewBox", view.map(value => value.toFixed(1)).join(" "));
  function zoom(factor, x = 0.5, y = 0.5) {
    const wide = Math.min(Math.max(view[2] * factor, STEP), 2 * whole[2]), by = wide / view[2];
    view = [view[0] + x * (view[2] - wide), view[1] + y * view[3] * (1 - by), wide, view[3] * by]; show();
  }
  function move(x, y) { view[0] += x * view[2]; view[1] += y * view[3]; show(); }
  const all = () => { view = [...whole]; show(); };
  const scaled = () => { const one = svg.getBoundingClientRect(), each = Math.max(view[2] / one.width, view[3] / one.height); return [each, one]; };
  const inside = event => { const [each, one] = scaled(); return [0.5 + (event.clientX - one.left - one.width / 2) * each / view[2], 0.5 + (event.clientY - one.top - one.height / 2) * each / view[3]]; };
  frame.addEventListener("wheel", event => { if (!event.ctrlKey && document.activeElement !== frame) return; event.preventDefault(); zoom(event.deltaY > 0 ? 1.25 : 0.8, ...inside(event)); }, {passive: false});
  const keys = {ArrowLeft: () => move(-0.1, 0), ArrowRight: () => move(0.1, 0), ArrowUp: () => move(0, -0.1), ArrowDown: () => move(0, 0.1), "+": () => zoom(0.8), "-": () => zoom(1.25), "0": all};
  frame.addEventListener("keydown", event => { if (keys[event.key]) { event.preventDefault(); keys[event.key](); } });
  let held = null;
  frame.addEventListener("pointerdown", event => { held = [event.clientX, event.clientY]; });
  frame.addEventListener("pointermove", event => {
    if (!held || !event.buttons) { held = null; return; }
    const [each] = scaled(); view[0] -= (event.clientX - held[0]) * each; view[1] -= (event.clientY - held[1]) * each; held = [event.clientX, event.clientY]; show();
  });
  const ends = block.boxes.map(() => []); block.edges.forEach(([source, target], k) => { ends[source].push(k); ends[target].push(k); });
  let near = [];
  svg.addEventListener("pointerover", event => {
    for (const one of near) one.classList.remove("near");
    const shape = event.target.closest(".box"); near = [];
    if (!shape) { told.textContent = block.told; return; }
    const at = Number(shape.dataset.at), own = ends[at], before = own.filter(k => block.edges[k][1] === at).length;
    near = [shape, ...own.flatMap(k => [edges[k], shapes[block.edges[k][0]], shapes[block.edges[k][1]]])];
    for (const one of near) one.classList.add("near");
    told.textContent = `${block.boxes[at][4]}; ${before} above, ${own.length - before} below`;
  });
  show();
  const signs = plates(block.groups.map(one => one[0]), block.groups.map((_, k) => colour(k)));
  signs.prepend(make("li", {}, make("svg", {viewBox: "0 0 26 12", "aria-hidden": "true"}, make("line", {x1: 0, x2: 26, y1: 6, y2: 6, stroke: "var(--c1)", "stroke-width": 4})), "critical path"));
  const figure = picture(block, frame, signs, () => plain(["Line", "Tasks", "Share of the work", "Share of the critical path"], block.groups.map(one => one.map(String)), block.title));
  figure.firstChild.after(tools([["Zoom in", () => zoom(0.8)], ["Zoom out", () => zoom(1.25)], ["Whole graph", all]], told));
  return figure;
}
