// Evaluated in a page: what is wrong with it, as a list of sentences.
(() => {
  const problems = new Map(); // by kind: one of each is enough
  const report = (kind, text) => problems.has(kind) || problems.set(kind, kind + ": " + text);
  const name = (e) => `<${e.tagName.toLowerCase()} class="${e.getAttribute("class") ?? ""}"> ${e.textContent.trim().slice(0, 60)}`;
  const folded = [...document.querySelectorAll("details:not([open])")];
  folded.forEach((d) => (d.open = true));

  // Nothing is wider than the window, apart from what scrolls by itself.
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) report("overflow", `the page is ${root.scrollWidth} pixels wide in a window of ${innerWidth}`);
  for (const e of document.body.querySelectorAll("*")) {
    if (e.parentElement.closest(".scroll, pre, svg")) continue;
    const box = e.getBoundingClientRect();
    if (box.width > 0 && box.right > innerWidth + 1) report("overflow of an element", name(e));
  }
  for (const svg of document.querySelectorAll("svg")) {
    const edge = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll("text")) {
      const box = text.getBoundingClientRect();
      if (box.right > edge.right + 1 || box.left < edge.left - 1 || box.bottom > edge.bottom + 1) report("text that leaves its picture", name(text));
    }
  }

  // All text has a contrast of 4.5 at least (WCAG 2.2, 1.4.3).
  const parse = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = (rgb) => {
    const [r, g, b] = rgb.slice(0, 3).map((v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (x, y) => {
    const [a, b] = [luminance(x), luminance(y)];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0] : [255, 255, 255];
  };
  const check = (e, color, on) => {
    const c = contrast(parse(color), on);
    if (c < 4.5) report("contrast", `${c.toFixed(2)} of ${name(e)}`);
  };
  for (const e of document.body.querySelectorAll(":not(svg, svg *, script)")) {
    const own = [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
    if (own && e.checkVisibility()) check(e, getComputedStyle(e).color, behind(e));
  }
  for (const svg of document.querySelectorAll("svg")) {
    const paper = behind(svg), boxes = [];
    for (const e of svg.querySelectorAll("rect, text")) {
      const box = e.getBoundingClientRect(), fill = getComputedStyle(e).fill;
      if (e.tagName === "rect") {
        if (fill !== "none") boxes.push([box, fill]);
        continue;
      }
      const x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
      const on = boxes.findLast(([b]) => b.left <= x && x <= b.right && b.top <= y && y <= b.bottom);
      check(e, fill, on ? parse(on[1]) : paper);
    }
  }

  // People who listen or use the keyboard get everything.
  for (const svg of document.querySelectorAll("svg")) if (!svg.getAttribute("aria-label")) report("a picture without a name", name(svg));
  for (const e of document.querySelectorAll("input, .scroll")) {
    if (e.matches("input") && !e.getAttribute("aria-label")) report("a field without a name", name(e));
    if (e.matches(".scroll") && e.tabIndex !== 0) report("a region that no key reaches", name(e));
  }
  if (document.querySelectorAll("h1").length < 1 || !document.title || !root.lang) report("structure", "a title, a heading or the language is missing");
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  if (new Set(ids).size !== ids.length) report("structure", "two elements have one id");
  for (const a of document.querySelectorAll('a[href^="#"]')) if (!document.getElementById(a.hash.slice(1))) report("a link to nothing", name(a));
  for (const e of document.querySelectorAll("img, iframe, link:not([rel=stylesheet]), object, embed, form, [style], [onclick], [onerror], [onload]")) report("markup that does not belong here", name(e));
  folded.forEach((d) => (d.open = false));
  return [...problems.values()];
})()
