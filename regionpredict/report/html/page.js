const data = JSON.parse(document.getElementById("data").textContent);
const whole = text => text.replaceAll(" %", "\u00a0%");  // a number and its percent sign are on one line
const renderers = {
  text: block => make("p", {}, whole(block.text)),
  list: block => make("div", {}, block.title ? make("h3", {}, block.title) : null, make("ul", {}, block.items.map(item => make("li", {}, whole(item))))),
  pre: block => make("pre", {tabindex: 0, role: "group", "aria-label": block.title}, block.text),
  more: block => { const one = make("details", {}, make("summary", {}, block.title));
    one.addEventListener("toggle", () => { if (one.open && one.children.length === 1) one.append(...shown(block.blocks)); }); return one; },
  facts: block => make("dl", {class: "facts"}, block.items.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, whole(value))])),
  checks: block => make("ul", {class: "checks"}, block.items.map(one => make("li", {class: one.mark},
    make("span", {class: "grade"}, one.grade < 0 ? "not known" : [make("span", {class: "pips", "aria-hidden": "true"}, "●".repeat(one.grade) + "○".repeat(one.of - one.grade)), ` ${one.grade} of ${one.of}`]),
    make("strong", {}, one.name), make("p", {}, one.text)))),
  roof: block => { const all = data.sections.flatMap(one => one.blocks).find(one => one.kind === "scatter" && one.lines), own = all && all.points.filter(one => one.name === block.name); return own && own.length ? scatter({...all, points: own, title: "This loop on the roofline"}) : make("div"); },
  table, curve, stack, scatter, source, panes, timeline, heat, graph, topology,
};
function shown(blocks) {
  return blocks.map(block => { const one = renderers[block.kind](block);
    if (["pre", "more", "text"].includes(block.kind)) one.classList.add("full"); return one; });
}
const tables = new Map();
function breakable(name) {
  // A path breaks after its folders, a dotted name after its parts.
  return name.split(/(?<=[/>]|[a-z][._](?=[a-z]))/i).flatMap((part, k) => k ? [make("wbr"), part] : [part]);
}
function table(block) {
  const root = make("div", {class: "table"}), body = make("tbody"), count = make("output", {"aria-live": "polite"});
  const value = cell => Array.isArray(cell) ? cell[1] : cell, text = cell => String(Array.isArray(cell) ? cell[0] : cell ?? "");
  const most = block.columns.map((column, k) => column.bar ? Math.max(...block.rows.map(row => value(row[k]) || 0), 0) : 0);
  const rows = block.rows.map((cells, at) => {
    const row = make("tr", {}), holder = {cells, row, detail: null, open: null, at};
    block.columns.forEach((column, k) => {
      const classes = [column.number ? "number" : "", column.minor ? "minor" : "", text(cells[k]).length > 14 ? "long" : ""].filter(Boolean).join(" ");
      const td = make("td", {class: classes || null});
      if (k === 0 && block.details && block.details[at].length) {
        holder.open = make("button", {type: "button", class: "open", "aria-expanded": "false"}, breakable(text(cells[k])));
        holder.open.addEventListener("click", () => toggle(holder)); td.append(holder.open);
      } else td.append(...(column.number ? [text(cells[k])] : breakable(text(cells[k]))));
      if (Array.isArray(cells[k]) && cells[k][2]) td.append(spark(cells[k][2]));
      if (column.bar && most[k] > 0 && value(cells[k]) !== null) {
        const inner = make("span"); inner.style.width = `${100 * value(cells[k]) / (column.bar === true ? most[k] : column.bar)}%`;
        td.append(make("span", {class: "meter", "aria-hidden": "true"}, inner));
      }
      row.append(td);
    });
    holder.words = cells.map(text).join(" ").toLowerCase();
    return holder;
  });
  function toggle(holder, force) {
    const open = force ?? holder.open.getAttribute("aria-expanded") !== "true";
    holder.open.setAttribute("aria-expanded", open);
    if (open && !holder.detail) {
      holder.detail = make("tr", {class: "detail"}, make("td", {colspan: block.columns.length}, make("div", {class: "blocks"}, shown(block.details[holder.at]))));
    }
    if (open) holder.row.after(holder.detail); else if (holder.detail) holder.detail.remove();
  }
  let sorted = block.sort ?? -1, up = sorted < 0;
  const heads = block.columns.map((column, k) => {
    const button = make("button", {type: "button"}, column.title);
    const head = make("th", {scope: "col", class: [column.number ? "number" : "", column.minor ? "minor" : ""].join(" ").trim() || null}, button);
    button.addEventListener("click", () => { up = sorted === k ? !up : !column.number; sorted = k; order(); });
    return head;
  });
  function order() {
    const listed = [...rows];
    if (sorted >= 0) listed.sort((a, b) => {
      const [one, other] = [value(a.cells[sorted]), value(b.cells[sorted])];
      if (one === null || other === null) return (one === null) - (other === null) || a.at - b.at;
      const by = typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other), "en", {numeric: true});
      return (up ? by : -by) || a.at - b.at;
    });
    heads.forEach((head, k) => k === sorted ? head.setAttribute("aria-sort", up ? "ascending" : "descending") : head.removeAttribute("aria-sort"));
    const kept = listed.filter(one => fits(one));
    body.replaceChildren(...kept.flatMap(one => one.detail && one.open.getAttribute("aria-expanded") === "true" ? [one.row, one.detail] : [one.row]));
    const all = `${rows.length} row${rows.length === 1 ? "" : "s"}`;
    count.textContent = kept.length === rows.length ? all : `${kept.length} of ${all}`;
  }
  const search = make("input", {type: "search", autocomplete: "off"});
  const choices = block.columns.map((column, k) => {
    if (!column.choice) return null;
    const options = [...new Set(rows.map(one => text(one.cells[k])))].filter(Boolean).sort();
    if (options.length < 2) return null;
    return {k, select: make("select", {}, make("option", {value: ""}, "all"), options.map(one => make("option", {}, one)))};
  }).filter(Boolean);
  function fits(one) {
    return search.value.toLowerCase().split(/\s+/).every(word => one.words.includes(word)) && choices.every(({k, select}) => !select.value || text(one.cells[k]) === select.value);
  }
  search.addEventListener("input", order);
  for (const {select} of choices) select.addEventListener("change", order);
  const tools = make("div", {class: "tools"});
  if (rows.length > 3) tools.append(make("label", {}, "Filter", search), ...choices.map(({k, select}) => make("label", {}, block.columns[k].title, select)));
  if (block.details) for (const [label, open] of [["Open all shown", true], ["Close all", false]]) {
    const button = make("button", {type: "button"}, label);
    button.addEventListener("click", () => { for (const one of rows) if (one.open && (open ? fits(one) : true)) toggle(one, open); }); tools.append(button);
  }
  if (block.details) count.title = "Open a row for its details";
  tools.append(count);
  const minor = block.columns.filter(column => column.minor).length, wider = make("button", {type: "button", class: "wider"}, `Show ${minor} more column${minor === 1 ? "" : "s"}`);
  wider.addEventListener("click", () => { root.classList.add("all"); wider.remove(); });
  if (minor) tools.append(wider);
  if (rows.length > 3 || block.details || minor) root.append(tools);
  if (rows.length <= 3 && !block.details) count.remove();
  root.append(make("div", {class: "wide", tabindex: 0, role: "group", "aria-label": block.title}, make("table", {"data-name": block.name || null}, make("caption", {}, block.title), make("thead", {}, make("tr", {}, heads)), body)), ...block.legend.map(([line, minor]) => make("p", {class: minor ? "minor" : null}, whole(line))));
  if (block.name) tables.set(block.name, at => {
    search.value = ""; for (const {select} of choices) select.value = ""; order(); toggle(rows[at], true); rows[at].open.scrollIntoView({block: "start"}); rows[at].open.focus();
  });
  order();
  return root;
}
function source(block) {
  const one = make("details", {class: "file"}, make("summary", {}, `${block.file} (${block.told})`));
  one.addEventListener("toggle", () => { if (one.open && one.children.length === 1) one.append(lines(block)); });
  if (block.open) one.open = true;
  return one;
}
function lines(block) {
  const root = make("div", {class: "source"}), notes = new Map();
  for (const note of block.notes) notes.set(note.line, [...(notes.get(note.line) || []), note]);
  let before = 0;
  for (const [first, texts] of block.parts) {
    if (first > before + 1 && !block.open) root.append(make("div", {class: "gap"}, `lines ${before + 1} to ${first - 1} tell nothing of a region`));
    texts.forEach((text, k) => {
      const number = first + k, own = notes.get(number) || [];
      root.append(make("div", {class: own.length ? "line hinted" : "line"}, make("span", {}, number), make("code", {}, text || " ")));
      for (const note of own) {
        const hint = make("div", {class: note.advice ? "hint advice" : "hint"}, note.text);
        if (note.row !== undefined) {
          const button = make("button", {type: "button"}, "why");
          button.setAttribute("aria-label", `why: line ${number}`);
          button.addEventListener("click", () => tables.get("regions")(note.row)); hint.append(" ", button);
        }
        root.append(hint);
      }
      before = number;
    });
  }
  return root;
}
function panes(block) {
  // Three panes as in profile browsers: a metric, its call paths, where it lies.
  const root = make("div", {class: "panes"}), sides = ["Metric", "Call path", "Location"].map(title => { const list = make("ul", {"aria-label": title}); root.append(make("div", {}, make("h3", {}, title), list)); return list; });
  let metric = 0, place = 0;
  function fill(list, items, chosen, choose) {
    list.replaceChildren(...items.map(([name, told], at) => {
      const button = make("button", {type: "button", "aria-pressed": choose ? String(at === chosen) : null}, make("span", {}, name), make("span", {class: "value"}, told));
      if (!choose) return make("li", {}, make("div", {class: "pair"}, name, " ", make("span", {class: "value"}, told)));
      button.addEventListener("click", () => { choose(at); const again = list.querySelectorAll("button")[at]; if (again) again.focus(); });
      return make("li", {}, button);
    }));
  }
  function draw() {
    const one = block.metrics[metric];
    fill(sides[0], block.metrics.map(each => [each.name, quantity(each.total, each.unit)]), metric, at => { metric = at; place = 0; draw(); });
    fill(sides[1], one.paths.map(each => [block.paths[each.path], quantity(each.total, one.unit)]), place, at => { place = at; draw(); });
    const values = one.paths[place] ? one.paths[place].values : [];
    sides[2].replaceChildren(grid(block, values, one.unit));
  }
  draw();
  return root;
}
function grid(block, values, unit) {
  const by = new Map(values), most = Math.max(...by.values(), 0);
  const list = make("li", {}, make("table", {}, make("caption", {class: "minor"}, "share of the largest"), make("thead", {}, make("tr", {}, ["location", "value"].map((name, k) => make("th", {scope: "col", class: k ? "number" : null}, name)))),
    make("tbody", {}, block.locations.filter((_, at) => by.has(at)).map(name => {
      const value = by.get(block.locations.indexOf(name)), inner = make("span"); inner.style.width = `${most > 0 ? 100 * value / most : 0}%`;
      return make("tr", {}, make("td", {}, name), make("td", {class: "number"}, quantity(value, unit), make("span", {class: "meter", "aria-hidden": "true"}, inner)));
    }))));
  return list;
}
function start() {
  document.getElementById("lead").append(...data.lead.map(line => make("p", {}, whole(line))));
  const main = document.getElementById("main"), list = document.getElementById("sections");
  data.sections.forEach((section, at) => {
    const id = `section-${at + 1}`;
    list.append(make("a", {href: `#${id}`}, section.title));
    const made = make("section", {"aria-labelledby": id}, make("h2", {id, tabindex: -1}, section.title), ...shown(section.blocks));
    for (const caption of made.querySelectorAll("caption")) caption.classList.toggle("unseen", caption.textContent === section.title);  // the heading says it
    main.append(made);
  });
  const theme = document.getElementById("theme"), order = ["system", "light", "dark"];
  theme.addEventListener("click", () => {
    const next = order[(order.indexOf(document.documentElement.dataset.theme || "system") + 1) % 3];
    if (next === "system") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = next;
    theme.textContent = `Colors: ${next}`;
  });
}
start();
