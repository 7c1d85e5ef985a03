"use strict";
/* Draws the charts of a report with uPlot: zoom (together), switches, and why each change was made. */
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const holder = document.getElementById("charts");
  const shown = new Map(); // group -> whether it is switched on
  const plots = [];
  let active = null; // the chart under the pointer
  let ready = false; // zooms are shared once every chart is there

  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const make = (tag, cls, text) => {
    const node = document.createElement(tag);
    if (cls) node.className = cls;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const alpha = (colour, share) => {
    const n = parseInt(colour.slice(1), 16);
    return `rgba(${n >> 16},${(n >> 8) & 255},${n & 255},${share})`;
  };
  const number = (v) => {
    if (v == null) return "–";
    const size = Math.abs(v);
    if (size >= 1e9) return (v / 1e9).toPrecision(3) + "G";
    if (size >= 1e6) return (v / 1e6).toPrecision(3) + "M";
    if (size >= 1e4) return (v / 1e3).toPrecision(3) + "k";
    return Number.isInteger(v) ? String(v) : String(Number(v.toPrecision(3)));
  };

  const groups = [];
  for (const chart of data.charts) for (const s of chart.series) if (s.group && !groups.includes(s.group)) groups.push(s.group);
  groups.forEach((group) => shown.set(group, data.charts.some((c) => c.series.some((s) => s.group === group && s.shown))));
  const toneOf = (s, index) => s.tone || String(((s.group ? groups.indexOf(s.group) : index) % 8) + 1);

  const times = (chart) => {
    const out = new Array(chart.count);
    out[0] = chart.start;
    for (let i = 1; i < chart.count; i++)
      out[i] = Array.isArray(chart.gaps) ? out[i - 1] + chart.gaps[i - 1] : chart.start + i * chart.gaps;
    return out;
  };
  const staircase = (s, count) => {
    const out = new Array(count);
    for (let k = 0; k < s.at.length; k++) out.fill(s.values[k], s.at[k], k + 1 < s.at.length ? s.at[k + 1] : count);
    return out;
  };

  function moment(zone) {
    const format = new Intl.DateTimeFormat("en-GB", {
      timeZone: zone, weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", timeZoneName: "short",
    });
    return (t) => format.format(new Date(t * 1000));
  }

  const range = () => [plots[0].u.scales.x.min, plots[0].u.scales.x.max];
  const whole = () => [Math.min(...plots.map((p) => p.x[0])), Math.max(...plots.map((p) => p.x[p.x.length - 1]))];
  function zoom(min, max) {
    const [first, last] = whole();
    const span = Math.min(max - min, last - first);
    if (min < first) { min = first; max = first + span; }
    if (max > last) { max = last; min = last - span; }
    for (const plot of plots) plot.u.setScale("x", { min, max });
  }

  const isOn = (row) => row.on && (!row.s.group || shown.get(row.s.group));
  function switchable(plot) {
    plot.rows.forEach((row) => {
      const on = isOn(row);
      row.index.forEach((i) => { if (plot.u.series[i].show !== on) plot.u.setSeries(i, { show: on }, false); });
      row.button.setAttribute("aria-pressed", String(on));
      row.button.hidden = groups.length > 1 && Boolean(row.s.group) && !shown.get(row.s.group);
    });
    plot.u.redraw();
  }

  function toggle(tone, kind, label, pressed, act) {
    const button = make("button", `switch tone-${tone}`);
    button.type = "button";
    button.append(make("i", kind), make("span", "", label));
    button.setAttribute("aria-pressed", String(pressed));
    button.title = `Show or hide ${label}`;
    button.addEventListener("click", () => act(button));
    return button;
  }

  function visibleNotes(plot, from, to) {
    return plot.chart.notes.filter((n) => n.at >= from && n.at <= to && (!n.group || shown.get(n.group)));
  }

  /* The notes to tell at a moment: of every visible group the one nearby, else the last one before. */
  function notesAt(plot, t, reach) {
    const last = new Map();
    for (const note of plot.chart.notes) {
      if (note.at > t + reach) break;
      if (!note.group || shown.get(note.group)) last.set(note.group, note);
    }
    return [...last.values()].slice(0, 3);
  }

  function tip(plot) {
    const { u, box, chart } = plot;
    const i = u.cursor.idx;
    if (active !== plot || i == null || u.cursor.left < 0) { box.style.display = "none"; return; }
    const t = plot.x[i];
    box.replaceChildren(make("b", "", plot.say(t)));
    for (const row of plot.rows) {
      if (!u.series[row.index[0]].show) continue;
      const values = row.index.map((k) => u.data[k][i]);
      if (values.every((v) => v == null)) continue;
      const line = make("div");
      const swatch = make("i");
      swatch.style.background = css(`--tone-${row.tone}`);
      const text = row.s.kind === "band" ? `${number(values[1])} – ${number(values[0])}` : number(values[0]);
      line.append(swatch, make("span", "", row.name), make("span", "", text));
      box.append(line);
    }
    const reach = (u.scales.x.max - u.scales.x.min) * 6 / Math.max(1, u.over.clientWidth);
    for (const note of notesAt(plot, t, reach)) {
      const text = (note.group && groups.length > 1 ? `${note.group}, ` : "") + `${plot.say(note.at)}: ${note.text}`;
      box.append(make("p", "", text));
    }
    box.style.display = "block";
    const area = plot.figure.getBoundingClientRect();
    const over = u.over.getBoundingClientRect();
    const x = over.left - area.left + u.cursor.left;
    const left = x + 18 + box.offsetWidth > area.width ? Math.max(8, x - 18 - box.offsetWidth) : x + 18;
    box.style.left = `${left}px`;
    box.style.top = `${over.top - area.top + 8}px`;
  }

  function drawMarks(plot) {
    const { u, chart } = plot;
    const { ctx, bbox } = u;
    const ratio = devicePixelRatio || 1;
    ctx.save();
    if (chart.now != null && chart.now >= u.scales.x.min && chart.now <= u.scales.x.max) {
      const x = Math.round(u.valToPos(chart.now, "x", true));
      ctx.strokeStyle = css("--soft");
      ctx.fillStyle = css("--soft");
      ctx.lineWidth = ratio;
      ctx.setLineDash([4 * ratio, 4 * ratio]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      ctx.font = `${12 * ratio}px system-ui, sans-serif`;
      ctx.textAlign = "left";
      ctx.fillText("now", x + 5 * ratio, bbox.top + 13 * ratio);
    }
    const notes = visibleNotes(plot, u.scales.x.min, u.scales.x.max);
    if (notes.length <= 150) {
      ctx.fillStyle = css("--accent");
      for (const note of notes) {
        const x = u.valToPos(note.at, "x", true);
        const y = bbox.top + bbox.height;
        ctx.beginPath();
        ctx.moveTo(x - 4 * ratio, y);
        ctx.lineTo(x + 4 * ratio, y);
        ctx.lineTo(x, y - 7 * ratio);
        ctx.fill();
      }
    }
    ctx.restore();
  }

  /* Areas lie below; of the lines the first named is drawn last, on top. */
  const isArea = (row) => row.s.kind === "band" || row.s.fill;
  const drawn = (rows) => [...rows.filter(isArea), ...rows.filter((row) => !isArea(row)).reverse()];

  const height = () => (innerWidth < 600 ? 200 : 250);

  function options(plot, width) {
    const { chart, rows } = plot;
    const series = [{}];
    const bands = [];
    for (const row of drawn(rows)) {
      const colour = () => css(`--tone-${row.tone}`);
      const base = { label: row.name, show: isOn(row), stroke: colour, width: 1.6, points: { show: false }, spanGaps: false };
      row.index = [series.length];
      if (row.s.kind === "band") {
        bands.push({ series: [series.length, series.length + 1], fill: () => alpha(colour(), css("--band-alpha")) });
        row.index.push(series.length + 1);
        series.push({ ...base, width: 0.6 }, { ...base, width: 0.6 });
      } else if (row.s.kind === "step") {
        const fill = row.s.fill ? () => alpha(colour(), css("--area-alpha")) : undefined;
        series.push({ ...base, width: row.s.fill ? 1 : 2, fill, paths: uPlot.paths.stepped({ align: 1 }) });
      } else series.push(base);
    }
    const axis = {
      stroke: () => css("--soft"), font: "12px system-ui, sans-serif",
      grid: { stroke: () => css("--line"), width: 1 }, ticks: { stroke: () => css("--line"), width: 1, size: 5 },
    };
    const clock = (t) => uPlot.tzDate(new Date(t * 1000), chart.zone);
    return {
      width, height: height(), series, bands, tzDate: clock, legend: { show: false }, padding: [10, 30, 0, 0],
      cursor: { y: false, sync: { key: "charts", scales: ["x", null] }, drag: { x: true, y: false }, points: { size: 7 } },
      scales: { y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.06 : 1] } },
      axes: [
        { ...axis, space: 78, size: 30, values: (_u, splits, _i, _space, step) => splits.map((t) => tick(clock(t), step)) },
        { ...axis, size: 56, ...(chart.whole ? { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 1e4, 1e5, 1e6] } : {}), values: (_u, splits) => splits.map(number) },
      ],
      hooks: {
        setCursor: [() => tip(plot)],
        draw: [() => drawMarks(plot)],
        setScale: [(u, key) => {
          if (key !== "x") return;
          plot.figure.dataset.from = u.scales.x.min;
          plot.figure.dataset.to = u.scales.x.max;
          if (!ready) return;
          for (const other of plots)
            if (other.u && other.u !== u && (other.u.scales.x.min !== u.scales.x.min || other.u.scales.x.max !== u.scales.x.max))
              other.u.setScale("x", { min: u.scales.x.min, max: u.scales.x.max });
        }],
      },
    };
  }

  const days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
  const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  const two = (n) => String(n).padStart(2, "0");
  function tick(d, step) {
    if (step >= 86400 || (d.getHours() === 0 && d.getMinutes() === 0)) return `${days[d.getDay()]} ${d.getDate()} ${months[d.getMonth()]}`;
    return `${two(d.getHours())}:${two(d.getMinutes())}` + (step < 60 ? `:${two(d.getSeconds())}` : "");
  }

  function build(chart) {
    const figure = make("figure");
    const caption = make("figcaption");
    const title = make("b", "", chart.title);
    title.append(" ", make("span", "unit", `${chart.unit}, times in ${chart.zone}`));
    const keys = make("div", "keys");
    const place = make("div", "plot");
    const box = make("div", "tip");
    caption.append(title, keys);
    figure.append(caption, place, box);
    holder.append(figure);
    const plot = { chart, figure, place, box, x: times(chart), say: moment(chart.zone), rows: [] };
    chart.series.forEach((s, i) => {
      const name = s.group && groups.length > 1 && s.label !== s.group ? `${s.group}: ${s.label}` : s.label;
      plot.rows.push({ s, name, tone: toneOf(s, i), on: s.shown });
    });
    const values = [plot.x];
    for (const row of drawn(plot.rows)) {
      if (row.s.kind === "band") values.push(row.s.upper, row.s.lower);
      else values.push(row.s.kind === "step" ? staircase(row.s, chart.count) : row.s.values);
    }
    for (const row of plot.rows) {
      row.button = toggle(row.tone, row.s.kind === "line" || (row.s.kind === "step" && !row.s.fill) ? "line" : "", row.name, isOn(row), () => {
        const on = row.button.getAttribute("aria-pressed") === "true";
        row.on = !on;
        if (row.on && row.s.group && !shown.get(row.s.group)) setGroup(row.s.group, true);
        else switchable(plot);
      });
      keys.append(row.button);
      row.button.hidden = groups.length > 1 && Boolean(row.s.group) && !shown.get(row.s.group);
    }
    plot.u = new uPlot(options(plot, place.clientWidth), values, place);
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", `${chart.title} in ${chart.unit}, ${plot.say(plot.x[0])} to ${plot.say(plot.x[plot.x.length - 1])}`);
    figure.addEventListener("pointerenter", () => { active = plot; });
    figure.addEventListener("pointerleave", () => { active = null; box.style.display = "none"; });
    plots.push(plot);
  }

  const groupButtons = new Map();
  function setGroup(group, on) {
    shown.set(group, on);
    if (on) for (const p of plots) for (const row of p.rows) if (row.s.group === group) row.on = true;
    groupButtons.get(group)?.setAttribute("aria-pressed", String(on));
    plots.forEach(switchable);
  }

  function tools() {
    const bar = make("div", "tools");
    if (groups.length > 1) {
      const runs = make("div", "buttons");
      runs.style.flexWrap = "wrap";
      groups.forEach((group, i) => {
        const button = toggle(String((i % 8) + 1), "", group, shown.get(group), () => setGroup(group, !shown.get(group)));
        groupButtons.set(group, button);
        runs.append(button);
      });
      bar.append(runs);
    }
    const buttons = make("div", "buttons");
    const add = (text, title, act) => {
      const button = make("button", "", text);
      button.type = "button";
      button.title = title;
      button.setAttribute("aria-label", title);
      button.addEventListener("click", act);
      buttons.append(button);
    };
    const around = (factor) => () => {
      const [min, max] = range();
      const middle = (min + max) / 2, half = ((max - min) / 2) * factor;
      zoom(middle - half, middle + half);
    };
    const shift = (share) => () => {
      const [min, max] = range();
      zoom(min + (max - min) * share, max + (max - min) * share);
    };
    add("All", "See everything", () => zoom(...whole()));
    add("Day", "Zoom to one day", () => { const [min] = range(); zoom(min, min + 86400); });
    add("−", "Zoom out", around(2));
    add("+", "Zoom in", around(0.5));
    add("◀", "Earlier", shift(-0.5));
    add("▶", "Later", shift(0.5));
    add("◐", "Light or dark", () => {
      const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
      repaint();
    });
    bar.append(buttons, make("span", "hint", "Drag over a chart to zoom, double-click to see everything; hover for the reason of each change."));
    holder.append(bar);
  }

  const repaint = () => plots.forEach((plot) => plot.u.redraw(true, true)); // with its axes: the size may have changed
  const fit = (width) => plots.forEach((plot) => plot.u.setSize({ width: width || plot.place.clientWidth, height: height() }));

  tools();
  data.charts.forEach(build);
  if (!data.charts.length) holder.remove();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  let waiting = 0;
  new ResizeObserver(() => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(() => { if (!printing) fit(); }); }).observe(holder);
  let theme, printing = false;
  addEventListener("beforeprint", () => { printing = true; theme = root.dataset.theme; root.dataset.theme = "light"; fit(660); repaint(); });
  addEventListener("afterprint", () => { printing = false; if (theme) root.dataset.theme = theme; else delete root.dataset.theme; fit(); repaint(); });
  queueMicrotask(() => { ready = true; root.dataset.ready = "true"; });
})();
