"use strict";
(() => {
  const svg = document.querySelector("svg.graph");
  if (!svg) return;
  const inspector = document.getElementById("inspector");
  const hint = inspector.textContent;
  const parts = [...svg.querySelectorAll("[data-node]")];
  const bonds = [...svg.querySelectorAll(".bond")];

  const light = (nodes) => {
    svg.classList.toggle("lit", nodes.size > 0);
    for (const part of parts) part.classList.toggle("in", nodes.has(part.dataset.node));
    for (const bond of bonds) bond.classList.toggle("in", nodes.has(bond.dataset.u) && nodes.has(bond.dataset.v));
  };
  const tell = (atom) => {
    inspector.replaceChildren();
    const name = document.createElement("strong");
    name.textContent = `${svg.dataset.noun} ${atom.dataset.node} · ${atom.dataset.label}`;
    const gap = document.createElement("span");
    gap.className = "sep";
    gap.textContent = "·";
    const unseen = "unseen" in atom.dataset ? `, unseen from round ${atom.dataset.unseen} on` : "";
    inspector.append(name, gap, `share ${atom.dataset.share}${unseen}`);
  };
  const clear = () => {
    light(new Set());
    inspector.textContent = hint;
    for (const atom of svg.querySelectorAll(".atom.on")) atom.classList.remove("on");
  };

  for (const atom of svg.querySelectorAll(".atom")) {
    for (const kind of ["pointerenter", "focus"]) atom.addEventListener(kind, () => { clear(); atom.classList.add("on"); tell(atom); });
    for (const kind of ["pointerleave", "blur"]) atom.addEventListener(kind, clear);
  }
  for (const card of document.querySelectorAll(".cards li")) {
    const nodes = new Set(card.dataset.nodes.split(" ").filter(Boolean));
    for (const kind of ["pointerenter", "focusin"]) card.addEventListener(kind, () => light(nodes));
    for (const kind of ["pointerleave", "focusout"]) card.addEventListener(kind, clear);
    card.addEventListener("click", (event) => {
      if (!event.target.closest("details")) svg.scrollIntoView({ block: "nearest" });
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { clear(); document.activeElement?.blur(); }
  });
})();
