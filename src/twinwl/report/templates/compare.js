"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const slider = byId("round"), state = byId("state"), inspector = byId("inspector"), rows = byId("rows");
  const svgs = [...document.querySelectorAll("svg[data-graph]")];
  const nodes = svgs.map((svg) => [...svg.querySelectorAll(".node")]);
  const edges = svgs.map((svg) => [...svg.querySelectorAll(".edge")]);
  const ticks = [...document.querySelectorAll(".ticks li")];
  const panels = document.querySelector(".panels");
  const letters = ["A", "B"];
  let h = data.start, lit = null;

  const make = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const paintOf = (slot) => data.paints[slot % data.paints.length];
  const swatch = (slot, small) => {
    const dot = make("span", "swatch" + (small ? " small" : ""));
    const [fill, ring] = paintOf(slot);
    dot.style.background = fill;
    if (ring) {
      dot.classList.add("ringed");
      dot.style.setProperty("--fill", fill);
      dot.style.setProperty("--ring", ring);
    }
    return dot;
  };
  const plural = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

  /* The neighbours of each node: which one, the label of the edge or -1, whether the edge or arc leads there. */
  const around = data.graphs.map(({ arcs: [sources, targets], arc_labels: by, sizes }) => {
    const found = sizes[0].map(() => []);
    sources.forEach((u, i) => {
      found[u].push([targets[i], by ? by[i] : -1, true]);
      if (data.directed) found[targets[i]].push([u, by ? by[i] : -1, false]);
    });
    return found;
  });

  /* Nodes within h steps, along arcs where the graph has directions: the identity set. */
  const identitySet = (graph, root) => {
    const seen = new Set([root]);
    let frontier = [root];
    for (let step = 0; step < h && frontier.length; step++) {
      const next = [];
      for (const v of frontier) for (const [u, , there] of around[graph][v]) if (there && !seen.has(u)) { seen.add(u); next.push(u); }
      frontier = next;
    }
    return seen;
  };

  const describe = (graph, v) => {
    const { labels, colours, sizes } = data.graphs[graph];
    const label = labels ? `, label ${data.labels[labels[v]]}` : "";
    return `Node ${v} of graph ${letters[graph]}${label}, colour ${colours[h][v]}, rooted size ${sizes[h][v]}`;
  };

  const showRound = () => {
    const round = data.rounds[h];
    ticks.forEach((tick, i) => tick.classList.toggle("now", i === h));
    state.replaceChildren(make("strong", "", round.caption[0]), " " + round.caption[1]);
    state.classList.toggle("differs", round.difference !== "");
    slider.setAttribute("aria-valuetext", `round ${h}. ${round.caption.join(" ")}`);
    svgs.forEach((svg, graph) => {
      const { slots, sizes, marked } = data.graphs[graph];
      nodes[graph].forEach((node, v) => {
        const [fill, ring] = paintOf(slots[h][v]);
        node.querySelector(".disc").setAttribute("fill", fill);
        node.querySelector(".ring").setAttribute("stroke", ring || "none");
        const text = node.querySelector("text");
        text.textContent = sizes[h][v];
        text.classList.toggle("long", sizes[h][v] > 99);
        node.classList.toggle("marked", marked[h][v]);
        node.setAttribute("aria-label", describe(graph, v));
      });
    });
    showVectors(round);
    showTable(round);
    if (lit) light(lit.graph, lit.v); else clear();
  };

  const showVectors = (round) => {
    byId("vectors-h").textContent = h;
    const box = byId("phi");
    box.replaceChildren();
    box.hidden = round.rows.length > 24 || round.left_out > 0;
    if (box.hidden) return;
    [["1-WL: nodes by colour", "n"], ["STwin: rooted sizes summed by colour", "t"]].forEach(([method, key]) => {
      const same = round.rows.every((row) => row[key][0] === row[key][1]);
      const block = make("div");
      const title = make("h3", "", method);
      title.append(make("em", same ? "" : "differs", same ? "= the same" : "≠ different"));
      block.append(title);
      [0, 1].forEach((graph) => {
        block.append(make("span", "of", letters[graph]));
        const entries = make("span", "entries", "(");
        round.rows.forEach((row, i) => {
          if (i) entries.append(", ");
          entries.append(make("span", row[key][0] === row[key][1] ? "" : "diff", row[key][graph]));
        });
        entries.append(")");
        block.append(entries);
      });
      box.append(block);
    });
  };

  const madeOf = (row) => {
    const cell = make("td", "made");
    if (h === 0) {
      if (row.label !== null) cell.append("label ", make("bdi", "label", data.labels[row.label]));
      else cell.append("the same for all nodes");
      return cell;
    }
    if (!row.example) return cell;
    const [graph, v] = row.example;
    const { slots } = data.graphs[graph];
    const neighbours = around[graph][v].map(([u, by]) => [by, slots[h - 1][u]]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    cell.append(swatch(slots[h - 1][v], true), make("span", "plus", neighbours.length ? "+" : "alone"));
    neighbours.slice(0, 9).forEach(([by, slot]) => {
      if (by >= 0) cell.append(make("span", "by", data.edge_labels[by]));
      cell.append(swatch(slot, true));
    });
    if (neighbours.length > 9) cell.append(make("span", "plus", `and ${neighbours.length - 9} more`));
    return cell;
  };

  const showTable = (round) => {
    rows.replaceChildren();
    for (const row of round.rows) {
      const line = make("tr", row.differs ? "differs" : "");
      line.tabIndex = 0;
      const name = make("td", "first");
      name.append(swatch(row.slot), " ", make("span", "", row.colour));
      line.append(name, madeOf(row));
      for (const key of ["n", "t"]) for (const graph of [0, 1]) line.append(make("td", row[key][0] === row[key][1] ? "" : "diff", row[key][graph]));
      for (const graph of [0, 1]) {
        const text = row.z[graph].map(([size, count]) => `${count} of size ${size}`).join(", ") || "–";
        line.append(make("td", "sizes" + (row.differs ? " diff" : ""), text));
      }
      line.append(make("td", "sign", row.differs ? "≠" : ""));
      const show = () => lightClass(row.slot);
      line.addEventListener("mouseenter", show);
      line.addEventListener("focus", show);
      line.addEventListener("mouseleave", clear);
      line.addEventListener("blur", clear);
      rows.append(line);
    }
    const more = byId("more");
    more.hidden = !round.left_out;
    more.textContent = `${round.left_out} more colours are not listed.`;
  };

  const clear = () => {
    lit = null;
    panels.classList.remove("class-lit");
    svgs.forEach((svg, graph) => {
      svg.classList.remove("lit");
      nodes[graph].forEach((node) => node.classList.remove("in", "root"));
      edges[graph].forEach((edge) => edge.classList.remove("in"));
    });
    if (!inspector) return;
    inspector.classList.remove("on");
    inspector.textContent = "Point at a node, or move to it with Tab, to see the nodes it reaches.";
  };

  const light = (graph, v) => {
    clear();
    lit = { graph, v };
    const members = identitySet(graph, v);
    svgs[graph].classList.add("lit");
    nodes[graph].forEach((node, u) => node.classList.toggle("in", members.has(u)));
    nodes[graph][v].classList.add("root");
    edges[graph].forEach((edge) => edge.classList.toggle("in", members.has(+edge.dataset.u) && members.has(+edge.dataset.v)));
    const { labels, colours, slots, sizes } = data.graphs[graph];
    inspector.classList.add("on");
    const sep = () => make("span", "sep", "·");
    inspector.replaceChildren(swatch(slots[h][v]), make("strong", "", `Node ${v} of ${letters[graph]}`));
    if (labels) inspector.append(sep(), "label ", make("bdi", "", data.labels[labels[v]]));
    inspector.append(sep(), `colour ${colours[h][v]}`, sep(), "rooted size ", make("strong", "", sizes[h][v]));
    const listed = [...members].sort((a, b) => a - b);
    const shown = listed.slice(0, 24).join(", ") + (listed.length > 24 ? ", …" : "");
    inspector.append(sep(), `in ${plural(h, "step")} it reaches {${shown}}`);
  };

  const lightClass = (slot) => {
    clear();
    if (!svgs.length) return;
    panels.classList.add("class-lit");
    svgs.forEach((svg, graph) => nodes[graph].forEach((node, v) => node.classList.toggle("in", data.graphs[graph].slots[h][v] === slot)));
  };

  nodes.forEach((list, graph) => list.forEach((node, v) => {
    node.addEventListener("mouseenter", () => light(graph, v));
    node.addEventListener("mouseleave", () => { if (document.activeElement !== node) clear(); });
    node.addEventListener("focus", () => light(graph, v));
    node.addEventListener("blur", clear);
    node.addEventListener("click", () => node.focus());
  }));
  slider.addEventListener("input", () => { h = +slider.value; showRound(); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (document.activeElement && document.activeElement.closest(".node, tr")) document.activeElement.blur();
      clear();
    }
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step && document.activeElement.closest(".node")) {
      const wanted = Math.min(data.rounds.length - 1, Math.max(0, h + step));
      event.preventDefault();
      if (wanted !== h) { h = wanted; slider.value = h; showRound(); }
    }
  });
  slider.value = h;
  showRound();
})();
