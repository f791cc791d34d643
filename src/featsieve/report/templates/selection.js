"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const tip = byId("tip"), live = byId("live");

  // Folded parts: a link opens its own, a printer all -------------------------------------------
  const unfold = () => {
    const part = location.hash && byId(location.hash.slice(1))?.closest("details");
    if (part) part.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    folded.forEach((part) => { part.open = true; });
  });
  addEventListener("afterprint", () => folded.forEach((part) => { part.open = false; }));

  // A word beside the pointer ------------------------------------------------------------------
  const showTip = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(Math.max(4, x + 14), innerWidth - width - 4);
    const above = y - height - 12;
    tip.style.left = `${left}px`;
    tip.style.top = `${above > 4 ? above : y + 18}px`;
  };
  let anchor = null; // where the keyboard reads: the word stays there when the page scrolls
  const hideTip = () => { tip.hidden = true; anchor = null; };
  const followTip = () => {
    if (!anchor) { hideTip(); return; }
    const place = anchor();
    showTip(tip.textContent, place.x, place.y);
  };
  addEventListener("scroll", followTip, { passive: true });

  const copy = async (text, button) => {
    const before = button.textContent;
    let done = true;
    try { await navigator.clipboard.writeText(text); } catch { done = false; }
    button.textContent = done ? "Copied" : "Copying failed";
    live.textContent = button.textContent;
    setTimeout(() => { button.textContent = before; }, 1500);
  };
  if (byId("copy-command")) {
    byId("copy-command").addEventListener("click", (event) => copy(byId("command").textContent, event.target));
  }

  // The table of features ----------------------------------------------------------------------
  const table = byId("table"), body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const chosen = [...body.rows];
  let others = null, all = false, sorted = heads.findIndex((head) => head.hasAttribute("aria-sort")), falling = false;
  const number = (text) => (text === "" ? null : Number(text.replace("%", "").replace("∞", "Infinity")));
  const valueOf = (row, i) => {
    const text = row.cells[i].textContent;
    return data.columns[i].style === "n" ? number(text) : text;
  };
  const build = ([group, ...texts]) => {
    const row = document.createElement("tr");
    texts.forEach((text, i) => {
      const column = data.columns[i];
      const cell = document.createElement(i === 0 ? "th" : "td");
      if (i === 0) cell.scope = "row";
      cell.textContent = text;
      cell.className = column.style;
      if (column.style === "g" && group >= 0) cell.classList.add(`c${group % data.colours}`);
      if (column.full && text !== "") {
        const share = Math.round((100 * number(text)) / column.full);
        cell.style.setProperty("--v", `${Math.max(0, Math.min(100, share))}%`);
      }
      row.append(cell);
    });
    return row;
  };
  const natural = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const rank = heads.findIndex((head) => head.textContent.trim() === "Rank");
  const arrange = () => {
    const numeric = data.columns[sorted].style === "n", sign = falling ? -1 : 1;
    const keyed = current().map((row) => [row, valueOf(row, sorted), valueOf(row, rank)]);
    keyed.sort(([, a, p], [, b, q]) => {
      const gone = (a === null || a === "") - (b === null || b === "");
      if (gone) return gone; // what is not there comes last, either way
      if (a === null || a === "") return p - q;
      const order = numeric ? (a < b ? -1 : a > b ? 1 : 0) : natural.compare(a, b);
      return sign * order || p - q;
    });
    body.replaceChildren(...keyed.map(([row]) => row));
  };
  const current = () => {
    if (!all) return chosen;
    others ??= data.rows.map(build);
    return [...chosen, ...others];
  };
  const clusterColumn = data.columns.findIndex((column) => column.style === "g");
  const filter = () => {
    let text = byId("search").value.toLowerCase();
    const asked = clusterColumn > 0 ? text.match(/\bcluster\s+(\S+)/) : null; // "cluster 2" is one wish
    if (asked) text = text.replace(asked[0], " ");
    const words = text.split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of body.rows) {
      const name = row.cells[0].textContent.toLowerCase();
      const inside = !asked || row.cells[clusterColumn].textContent.toLowerCase().startsWith(`${asked[1]},`);
      row.hidden = !(inside && words.every((word) => name.includes(word)));
      shown += !row.hidden;
    }
    const searching = asked || words.length;
    const noun = (searching ? body.rows.length : shown) === 1 ? "feature" : "features", kind = all ? noun : `selected ${noun}`;
    const found = searching ? ` of ${body.rows.length}` : "";
    byId("count").textContent = `${shown}${found} ${kind}${searching ? " match" : ""}.`;
  };
  heads.forEach((head, i) => {
    head.firstElementChild.addEventListener("click", () => {
      const large = data.columns[i].style === "n" && !data.columns[i].least; // the best first
      falling = i === sorted ? !falling : large;
      sorted = i;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      arrange();
    });
  });
  const choose = (whole) => {
    all = whole;
    byId("show-selected").setAttribute("aria-pressed", String(!all));
    byId("show-all").setAttribute("aria-pressed", String(all));
    table.classList.toggle("mixed", all);
    arrange();
    filter();
  };
  byId("show-selected").addEventListener("click", () => choose(false));
  byId("show-all").addEventListener("click", () => choose(true));
  byId("search").addEventListener("input", filter);
  const visible = () => [...body.rows].filter((row) => !row.hidden);
  byId("copy").addEventListener("click", (event) => {
    copy(visible().map((row) => row.cells[0].textContent).join("\n"), event.target);
  });

  // Names that are too long for their cell
  document.addEventListener("pointerover", (event) => {
    const cell = event.target.closest?.("#table th, #table td, .fields li");
    if (cell && cell.scrollWidth > cell.clientWidth) showTip(cell.textContent, event.clientX, event.clientY);
    else if (event.target.closest?.("#table")) hideTip();
  });

  // Reading values off pictures ----------------------------------------------------------------
  const inside = (svg, event) => {
    const place = new DOMPoint(event.clientX, event.clientY);
    return place.matrixTransform(svg.getScreenCTM().inverse());
  };
  const outside = (svg, x, y) => new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
  const element = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const move = (cursor, place) => {
    for (const [key, value] of Object.entries(place)) cursor.setAttribute(key, value);
    cursor.removeAttribute("hidden");
  };
  // nearest(x, y) finds the point to read, order lists them for the keyboard
  const readable = (figure, { nearest, order, at, text, down = 1, shown, hidden }) => {
    const svg = figure.querySelector("svg[role=img]");
    let now = -1;
    const show = (i, byKey) => {
      now = i;
      if (i < 0) { hidden(); hideTip(); return; }
      shown(i);
      const [x, y] = at(i);
      const place = outside(svg, x, y);
      showTip(text(i), place.x, place.y);
      anchor = byKey ? () => outside(svg, x, y) : null;
      if (byKey) live.textContent = text(i);
    };
    const read = (event) => {
      const place = inside(svg, event);
      show(nearest(place.x, place.y), false);
    };
    svg.addEventListener("pointermove", read);
    svg.addEventListener("pointerdown", read);
    svg.addEventListener("pointerleave", () => show(-1, false));
    figure.tabIndex = 0;
    figure.setAttribute("role", "group");
    figure.setAttribute("aria-label", `${svg.getAttribute("aria-label")} Arrow keys read the values.`);
    figure.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: down, ArrowLeft: -1, ArrowUp: -down }[event.key];
      const ends = { Home: 0, End: order.length - 1 };
      if (event.key === "Escape") show(-1, true);
      if ((step === undefined && !(event.key in ends)) || !order.length) return;
      event.preventDefault();
      const place = order.indexOf(now);
      const next = step === undefined ? ends[event.key] : place < 0 ? 0 : place + step;
      show(order[Math.max(0, Math.min(order.length - 1, next))], true);
    });
    figure.addEventListener("blur", () => show(-1, false));
    return show;
  };
  const closest = (xs, ys, reach, allowed = () => true) => (x, y) => {
    let best = -1, least = reach * reach;
    for (let i = 0; i < xs.length; i += 1) {
      if (!allowed(i)) continue;
      const length = (xs[i] - x) ** 2 + (ys[i] - y) ** 2;
      if (length < least) { least = length; best = i; }
    }
    return best;
  };

  for (const figure of document.querySelectorAll("[data-plot=chart]")) {
    const points = data.charts[figure.dataset.chart];
    const xs = points.map((point) => point[0]);
    const along = (x) => xs.reduce((best, value, i) => (Math.abs(value - x) < Math.abs(xs[best] - x) ? i : best), 0);
    const cursor = element("circle", { class: "cursor", r: 8, hidden: "" });
    figure.querySelector("svg").append(cursor);
    readable(figure, {
      nearest: figure.dataset.chart === "structure" ? closest(xs, points.map((point) => point[1]), Infinity) : along,
      order: points.map((_, i) => i),
      at: (i) => points[i],
      text: (i) => points[i][2],
      shown: (i) => move(cursor, { cx: points[i][0], cy: points[i][1] }),
      hidden: () => cursor.setAttribute("hidden", ""),
    });
  }

  // Samples: what is pointed at in one view is marked in both ------------------------------------
  const aboutSample = (i) => {
    const map = data.map;
    let text = map.names[i];
    if (map.cluster) text += `, cluster ${data.clusters[map.cluster[i]]}`;
    if (map.certainty) text += ` (${Math.round(100 * map.certainty[i])}% certain)`;
    if (map.class) text += `, class ${map.classes[map.class[i]]}`;
    return text;
  };
  const maps = [...document.querySelectorAll("[data-plot=map]")];
  if (maps.length) {
    const map = data.map;
    const names = (i) => map.names[i];
    const grouped = { cluster: [map.cluster, data.clusters], class: [map.class, map.classes] };
    const views = maps.map((figure) => {
      const svg = figure.querySelector("svg");
      const cursor = element("circle", { class: "cursor", r: 17, "stroke-width": 5, hidden: "" });
      cursor.style.strokeWidth = 5;
      svg.append(cursor);
      return { figure, svg, cursor, ...map.views[figure.dataset.view] };
    });
    const mark = (i) => {
      for (const { cursor, x, y } of views) move(cursor, { cx: x[i], cy: y[i] });
    };
    let lit = new Set(), codesNow = map.cluster; // groups that are seen alone, and the group of each sample
    const unmark = () => views.forEach(({ cursor }) => cursor.setAttribute("hidden", ""));
    const shows = views.map((view) => {
      const order = view.x.map((_, i) => i);
      const group = map.cluster || order.map(() => 0);
      order.sort((a, b) => group[a] - group[b] || view.x[a] - view.x[b]);
      return readable(view.figure, {
        nearest: closest(view.x, view.y, 60, (i) => !lit.size || lit.has(codesNow[i])),
        order,
        at: (i) => [view.x[i], view.y[i]],
        text: aboutSample,
        shown: mark,
        hidden: unmark,
      });
    });
    const key = byId("key");
    const path = (group, places, more) => {
      const [shape, dx, dy, kind] = data.markers[group % data.markers.length];
      const d = places.map(([x, y]) => `M${x + dx} ${y + dy}${shape}`).join("");
      return element("path", { class: `m ${kind} c${group % data.colours}`, ...more, d });
    };
    const sample = (group) => {
      const svg = element("svg", { class: "key-mark", viewBox: "-16 -16 32 32", "aria-hidden": "true" });
      svg.append(path(group, [[0, 0]]));
      return svg;
    };
    const light = () => {
      for (const { svg } of views) {
        svg.classList.toggle("only", lit.size > 0);
        for (const part of svg.querySelectorAll("[data-group]")) part.classList.toggle("on", lit.has(Number(part.dataset.group)));
      }
      for (const button of key.querySelectorAll("button")) button.setAttribute("aria-pressed", String(lit.has(Number(button.value))));
    };
    const colour = (by) => {
      const [codes, words] = grouped[by];
      lit = new Set();
      codesNow = codes;
      for (const view of views) {
        const places = (group) => view.x.flatMap((x, i) => (codes[i] === group ? [[x, view.y[i]]] : []));
        view.svg.querySelector(".marks").replaceChildren(...words.map((_, group) => path(group, places(group), { "data-group": group })));
        const centres = view.svg.querySelector(".centres");
        if (centres) centres.style.display = by === "cluster" ? "" : "none";
      }
      key.setAttribute("aria-label", by === "cluster" ? "Clusters: press to see one alone" : "True classes: press to see one alone");
      key.replaceChildren(...words.map((word, group) => {
        const item = document.createElement("li"), button = document.createElement("button");
        button.type = "button";
        button.value = group;
        button.append(sample(group), word);
        button.addEventListener("click", () => {
          if (!lit.delete(group)) lit.add(group);
          light();
        });
        item.append(button);
        return item;
      }));
      light();
    };
    if (key) colour("cluster");
    const kinds = ["cluster", "class"].filter((kind) => byId(`by-${kind}`));
    for (const kind of kinds) {
      byId(`by-${kind}`).addEventListener("click", () => {
        kinds.forEach((other) => byId(`by-${other}`).setAttribute("aria-pressed", String(other === kind)));
        colour(kind);
      });
    }
    byId("find").addEventListener("input", (event) => {
      const word = event.target.value.trim().toLowerCase();
      const texts = views[0].x.map((_, i) => names(i).toLowerCase());
      let found = word ? texts.indexOf(word) : -1;
      if (found < 0 && word) found = texts.findIndex((text) => text.includes(word));
      shows[0](found, true);
      if (word && found < 0) live.textContent = "No such sample.";
    });
  }

  // Pictures of cells, row by row: the cursor is a square
  const readCells = (figure, height, width, look, more) => {
    const cursor = element("rect", { class: "cursor", width: 1, height: 1, hidden: "", ...look });
    figure.querySelector("svg[role=img]").append(cursor);
    readable(figure, {
      nearest: (x, y) => (x < 0 || y < 0 || x >= width || y >= height ? -1 : Math.floor(y) * width + Math.floor(x)),
      at: (i) => [(i % width) + 0.5, Math.floor(i / width) + 0.5],
      shown: (i) => move(cursor, { x: i % width, y: Math.floor(i / width) }),
      hidden: () => cursor.setAttribute("hidden", ""),
      ...more,
    });
  };

  // Fields of values: a byte each, 127 for zero ---------------------------------------------------
  for (const figure of document.querySelectorAll("[data-plot=field]")) {
    const { names, levels, width, full, samples } = data.fields[figure.dataset.field];
    const bytes = atob(levels);
    const value = (i) => {
      const z = ((bytes.charCodeAt(i) - 127) * full) / 127, sign = z < 0 ? "-" : "+";
      if (!samples) return `r = ${z.toFixed(2)}`;
      return `${sign}${Math.abs(z).toFixed(1)}${Math.abs(z) === full ? " or more" : ""} standard deviations`;
    };
    readCells(figure, names.length, width, { "vector-effect": "non-scaling-stroke" }, {
      order: [...bytes].map((_, i) => i),
      down: width,
      text: (i) => `${names[Math.floor(i / width)]}, ${samples ? aboutSample(samples[i % width]) : names[i % width]}: ${value(i)}`,
    });
  }

  // Pixels -------------------------------------------------------------------------------------------
  for (const figure of document.querySelectorAll("[data-plot=pixels]")) {
    const { shape: [height, width], selected, rank: ranks } = data.pixels;
    const taken = new Set(selected);
    const look = { style: `stroke-width: ${Math.max(0.08, width / 150)}; stroke: #fff` };
    readCells(figure, height, width, look, {
      order: selected,
      text: (i) => `row ${Math.floor(i / width) + 1}, column ${(i % width) + 1}: ${ranks ? `rank ${ranks[i]}, ` : ""}${taken.has(i) ? "selected" : "not selected"}`,
    });
  }
})();
