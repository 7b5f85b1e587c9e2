"use strict";
// Draws each chart when it is scrolled to, from the cells of the table beside it.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const kinds = JSON.parse(document.getElementById("chart-templates").textContent);
  const plots = [...document.querySelectorAll(".plot")];
  const drawn = new Map();

  // The runtime lies in the file packed, so that the page is read before it is unpacked.
  let loading = null;
  const unpacked = async () => {
    const packed = atob(document.getElementById("chart-runtime").textContent);
    const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
    return window.vegaEmbed;
  };
  const runtime = () => (loading ??= unpacked());

  // A number's full value is in data-v, or it is the text where nothing was cut off.
  const cell = (element) => {
    if (!element.hasAttribute("data-v")) {
      const text = element.textContent;
      return text === "\u2013" ? null : text;
    }
    return Number(element.dataset.v || element.textContent.replaceAll(",", ""));
  };

  const rows = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    const found = [...table.tBodies[0].rows].map((line, row) => {
      const record = { row };
      heads.forEach((head, at) => { record[head.dataset.k] = cell(line.cells[at]); });
      return record;
    });
    return { heads, found };
  };

  // One record for each line and row, where each column but the first is a line.
  const melted = ({ heads, found }, first) =>
    heads
      .filter((head) => head.dataset.k !== first)
      .flatMap((head) =>
        found.map((record) => ({
          x: record[first],
          line: head.firstChild.textContent,
          y: record[head.dataset.k],
        })),
      );

  const paramsOf = (plot) => {
    const params = {};
    for (const { name, value } of plot.attributes) {
      if (name.startsWith("data-p-")) {
        const number = Number(value);
        params[name.slice(7)] = value !== "" && Number.isFinite(number) ? number : value;
      }
    }
    return params;
  };

  // Puts the theme's colours, and texts that a template takes, in place of "@name".
  const filled = (value, names) => {
    if (typeof value === "string" && value.startsWith("@")) {
      return names(value.slice(1)) ?? value;
    }
    if (Array.isArray(value)) {
      return value.map((item) => filled(item, names));
    }
    if (value !== null && typeof value === "object") {
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, filled(item, names)]),
      );
    }
    return value;
  };

  const specOf = (plot) => {
    const kind = kinds[plot.dataset.kind];
    const params = paramsOf(plot);
    const style = getComputedStyle(root);
    const spec = filled(kind.spec, (name) =>
      typeof params[name] === "string" ? params[name] : style.getPropertyValue(`--${name}`).trim(),
    );
    for (const signal of spec.signals ?? []) {
      if (Object.hasOwn(params, signal.name)) signal.value = params[signal.name];
    }
    const main = rows(plot.parentElement.querySelector("table"));
    for (const data of spec.data ?? []) {
      if (data.name === "table") {
        data.values = kind.lines ? melted(main, kind.lines) : main.found;
      } else if (plot.hasAttribute(`data-t-${data.name}`)) {
        const other = plot.getAttribute(`data-t-${data.name}`);
        data.values = rows(document.getElementById(other)).found;
      } else if (kind.also.includes(data.name)) {
        data.values = [];
      }
    }
    return spec;
  };

  // Names of lines can be long: as a list they wrap, and follow the theme by themselves.
  const legend = (plot, spec) => {
    if (plot.previousElementSibling?.className === "legend") return;
    const { values } = spec.data.find(({ name }) => name === "table");
    const names = [...new Set(values.map(({ line }) => line))];
    const dashes = spec.scales.find(({ name }) => name === "strokeDash").range;
    const list = document.createElement("ul");
    list.className = "legend";
    names.forEach((name, at) => {
      const item = document.createElement("li");
      item.innerHTML = '<svg viewBox="0 0 32 19" aria-hidden="true"><path d="M0 10H32"/></svg>';
      const path = item.querySelector("path");
      path.style.stroke = `var(--c${at % dashes.length})`;
      path.setAttribute("stroke-dasharray", dashes[at % dashes.length].join(" "));
      item.append(name);
      list.append(item);
    });
    plot.before(list);
  };

  const drawOnce = async (plot) => {
    const embed = await runtime();
    const spec = specOf(plot);
    if (kinds[plot.dataset.kind].lines) legend(plot, spec);
    const result = await embed(plot, spec, {
      mode: "vega",
      ast: true, // expressions are walked, never compiled: no eval
      renderer: "svg",
      actions: false,
      defaultStyle: false,
      hover: false,
      logLevel: 1, // a rule without a value has no extent: Vega would warn of it
      tooltip: { disableDefaultStyle: true },
    });
    // The chart is one image with one text: its marks say nothing of their own.
    plot.querySelector("svg").setAttribute("aria-hidden", "true");
    plot.dataset.drawn = "";
    return result;
  };

  // A chart that is being drawn is drawn to its end before it is drawn anew.
  const draw = (plot) => {
    const earlier = drawn.get(plot) ?? Promise.resolve();
    drawn.set(plot, earlier.then((result) => result?.finalize()).then(() => drawOnce(plot)));
  };

  const seen = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (isIntersecting && !drawn.has(target)) {
          seen.unobserve(target);
          draw(target);
        }
      }
    },
    { rootMargin: "300px" },
  );
  plots.forEach((plot) => seen.observe(plot));
  // Ready before somebody prints without having scrolled.
  window.requestIdleCallback?.(runtime);

  const redraw = () => [...drawn.keys()].forEach(draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

  // On paper everything is open, drawn and light.
  const opened = [];
  addEventListener("beforeprint", () => {
    root.dataset.theme = "light";
    for (const details of document.querySelectorAll("details:not([open])")) {
      details.open = true;
      opened.push(details);
    }
    plots.forEach(draw);
  });
  addEventListener("afterprint", () => {
    delete root.dataset.theme;
    opened.splice(0).forEach((details) => { details.open = false; });
    redraw();
  });
})();
