"use strict";
// Shows the stages that the page holds, and what belongs together: hover or focus a line to see its ops in every
// stage, the graph, the charts and the tables. `origins[p]` says which lines ops with the class `p<p>` come from.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const key = (line) => line.join(":");
  const ofLine = new Map(); // "file:line" -> the numbers of all origins with that line
  data.origins.forEach((origin, p) => {
    for (const line of origin.lines) {
      if (!ofLine.has(key(line))) ofLine.set(key(line), []);
      ofLine.get(key(line)).push(p);
    }
  });
  const options = [...document.querySelectorAll('#source [role="option"]')];
  const optionOf = new Map(options.map((option) => [`${option.dataset.file}:${option.dataset.line}`, option]));
  const rule = document.head.appendChild(document.createElement("style"));
  let pinned = null; // the numbers that stay marked

  const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
  const described = (p) => {
    const { lines, via } = data.origins[p];
    if (!lines.length) return "";
    return via.map((name) => `${name} of `).join("") + lines.map(([file, line]) => `${data.files[file]}:${line}`).join(", ");
  };

  // A colour for each line with ops, at the left of the line and of its ops; dashed where they are backward.
  const colours = document.head.appendChild(document.createElement("style"));
  const hue = ([file, line]) => (line * 67 + file * 29) % 360;
  colours.textContent = data.origins.map(({ lines, via }, p) => {
    if (!lines.length) return "";
    const style = via.some((name) => name.startsWith("transpose")) ? "dashed" : "solid";
    return `.code .p${p}{border-left:4px ${style} hsl(${hue(lines[0])} 65% 50%)}`;
  }).join("");
  for (const option of options) {
    if (!("none" in option.dataset)) {
      option.style.borderLeft = `4px solid hsl(${hue([Number(option.dataset.file), Number(option.dataset.line)])} 65% 50%)`;
    }
  }

  function show(pane, index) {
    const stage = data.stages[index];
    const lines = stage.lines.map((n) => data.lines[n]);
    let html = "";
    for (let start = 0; start < lines.length; start += 200) {
      const end = Math.min(start + 200, lines.length);
      html += `<div style="contain-intrinsic-height:${(end - start) * 18}px">`;
      for (let n = start; n < end; n++) {
        const p = stage.origins[n];
        html += p ? `<span class="p${p}" data-p="${p}">${escaped(lines[n])}</span>` : `<span>${escaped(lines[n])}</span>`;
      }
      html += "</div>";
    }
    if (stage.omitted) html += `<div><span>… ${stage.omitted} more lines: adze ir --stage ${stage.name}</span></div>`;
    pane.querySelector(".code").innerHTML = html;
    pane.querySelector(".about").textContent = stage.about;
    pane.querySelector(".scroll").scrollTop = 0;
    mark(pinned || []);
  }

  function mark(numbers) {
    const selectors = (prefix) => numbers.map((p) => `${prefix}.p${p}`).join(",");
    rule.textContent = numbers.length
      ? `${selectors(".code ")}{background:var(--hit)}` +
        `${numbers.map((p) => `.graph .p${p} rect`).join(",")}{fill:var(--hit);stroke-width:3}` +
        `${selectors(".chart ")}{fill:var(--pin);stroke:var(--ink);stroke-width:1}${selectors("tr")}{background:var(--hit)}`
      : "";
    const lines = new Set(numbers.flatMap((p) => data.origins[p].lines.map(key)));
    for (const option of options) option.classList.toggle("hit", lines.has(`${option.dataset.file}:${option.dataset.line}`));
    summarize(numbers);
  }

  function summarize(numbers) {
    const wanted = new Set(numbers);
    const counts = data.stages.map((stage) => stage.origins.reduce((sum, p) => sum + (p && wanted.has(p) ? 1 : 0), 0));
    document.querySelectorAll("#counts [data-stage]").forEach((cell) => {
      cell.textContent = numbers.length ? counts[cell.dataset.stage] : "";
    });
    const texts = numbers.map(described).filter(Boolean);
    byId("origin").textContent = texts.length > 3 ? `${texts.slice(0, 3).join("; ")}; and ${texts.length - 3} more` : texts.join("; ");
  }

  const reveal = (element, scroller) => {
    if (element && scroller) scroller.scrollTop += element.getBoundingClientRect().top - scroller.getBoundingClientRect().top - scroller.clientHeight / 3;
  };

  function revealOps(numbers, except) {
    for (const pane of document.querySelectorAll(".stage")) {
      if (pane === except || !numbers.length) continue;
      reveal(pane.querySelector(numbers.map((p) => `.code .p${p}`).join(",")), pane.querySelector(".scroll"));
    }
  }

  function select(option, move) {
    const same = option.getAttribute("aria-selected") === "true" && !move;
    for (const other of options) other.setAttribute("aria-selected", String(other === option && !same));
    const list = byId("source");
    if (same) list.removeAttribute("aria-activedescendant");
    else list.setAttribute("aria-activedescendant", option.id);
    pinned = same ? null : ofLine.get(`${option.dataset.file}:${option.dataset.line}`) || [];
    mark(pinned || []);
    revealOps(pinned || [], null);
  }

  const current = () => options.findIndex((option) => option.getAttribute("aria-selected") === "true");
  byId("source").addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -options.length, End: options.length };
    if (event.key === "Escape") {
      for (const option of options) option.setAttribute("aria-selected", "false");
      pinned = null;
      mark([]);
    } else if (event.key in steps && options.length) {
      const next = Math.max(0, Math.min(options.length - 1, current() + steps[event.key]));
      select(options[next], true);
      options[next].scrollIntoView({ block: "nearest" });
      event.preventDefault();
    }
  });
  byId("source").addEventListener("click", (event) => {
    const option = event.target.closest('[role="option"]');
    if (option) select(option, false);
  });
  byId("source").addEventListener("mouseover", (event) => {
    const option = event.target.closest('[role="option"]');
    if (option && !pinned) mark(ofLine.get(`${option.dataset.file}:${option.dataset.line}`) || []);
  });

  document.addEventListener("mouseover", (event) => {
    const part = event.target.closest("[data-p]");
    if (part && part.dataset.p !== "0") {
      part.title = part.title || described(part.dataset.p);
      if (!pinned) mark([Number(part.dataset.p)]);
    } else if (!pinned && !event.target.closest("#source")) {
      if (rule.textContent) mark([]);
    }
  });
  function pick(part) {
    const [line] = data.origins[Number(part.dataset.p)].lines;
    const option = line && optionOf.get(key(line));
    if (!option) return;
    select(option, true);
    reveal(option, byId("source"));
    revealOps([Number(part.dataset.p)], part.closest(".stage"));
  }
  document.addEventListener("click", (event) => {
    const part = event.target.closest("[data-p]");
    if (part && part.dataset.p !== "0" && !String(window.getSelection())) pick(part);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches("tr[data-p]")) pick(event.target);
  });

  document.querySelectorAll(".stage").forEach((pane) => {
    const chooser = pane.querySelector("select");
    chooser.addEventListener("change", () => show(pane, Number(chooser.value)));
    show(pane, Number(chooser.value));
  });

  document.querySelectorAll(".graph").forEach((graph) => {
    let zoom = 1;
    function resize(factor) {
      zoom = Math.max(0.05, Math.min(4, zoom * factor));
      graph.style.width = `${graph.dataset.width * zoom}px`;
      graph.style.height = `${graph.dataset.height * zoom}px`;
    }
    resize(Math.min(1, (graph.parentElement.clientWidth - 4) / graph.dataset.width));
    if (zoom < 0.35) resize(0.35 / zoom);
    byId("larger").addEventListener("click", () => resize(1.25));
    byId("smaller").addEventListener("click", () => resize(0.8));
  });
  document.documentElement.dataset.ready = "yes";
})();
