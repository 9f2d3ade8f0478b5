// What a reader sees on screens of several widths: the answer first, nothing clipped, nothing on top of
// something else, tabs and navigation by keyboard.

/* The charts of the tab that is shown are drawn. */
export const drawn = (page) => page.waitForFunction(() => document.documentElement.dataset.ready, null, { timeout: 60000 });

const tabsOf = (page) => page.locator("[role=tab]").all();

/* What lies whole within the first screenful, without scrolling. */
export async function firstScreen(page) {
  await page.setViewportSize({ width: 1400, height: 900 });
  await page.evaluate(() => scrollTo(0, 0));
  await page.waitForTimeout(200);
  return page.evaluate(() => {
    const seen = (place) => {
      const box = place.getBoundingClientRect();
      return box.height > 0 && box.top >= 0 && box.bottom <= innerHeight && box.left >= 0 && box.right <= innerWidth;
    };
    const texts = (selector, of) => [...document.querySelectorAll(selector)].filter(seen).map((place) => place.querySelector(of).textContent.trim());
    return {
      tiles: texts(".tile", "h2"),
      matrices: [...document.querySelectorAll(".matrix")].filter((place) => seen(place.querySelector("table"))).map((place) => place.querySelector("figcaption").textContent),
      said: texts(".health, #summary", "h2"),
    };
  });
}

/* Arrow keys, Home and End choose tabs, and one panel is shown at a time. */
export async function tabsByKeyboard(page, problems) {
  const tabs = await tabsOf(page);
  if (tabs.length < 2) return;
  const state = () => page.evaluate(() => {
    const all = [...document.querySelectorAll("[role=tab]")];
    const panels = all.map((tab) => document.getElementById(tab.getAttribute("aria-controls")));
    return {
      focused: all.indexOf(document.activeElement),
      chosen: all.flatMap((tab, one) => (tab.getAttribute("aria-selected") === "true" ? [one] : [])),
      reached: all.flatMap((tab, one) => (tab.tabIndex === 0 ? [one] : [])),
      shown: panels.flatMap((panel, one) => (panel.checkVisibility({ contentVisibilityAuto: true }) && !panel.hasAttribute("hidden") ? [one] : [])),
      labelled: panels.every((panel, one) => panel.getAttribute("aria-labelledby") === all[one].id && panel.getAttribute("role") === "tabpanel"),
    };
  });
  await tabs[0].click();
  const last = tabs.length - 1;
  for (const [key, wanted] of [["ArrowRight", 1], ["ArrowLeft", 0], ["ArrowLeft", last], ["ArrowRight", 0], ["End", last], ["Home", 0]]) {
    await page.keyboard.press(key);
    await drawn(page);
    const { focused, chosen, reached, shown, labelled } = await state();
    const is = [focused, ...chosen, ...reached, ...shown];
    if (is.length !== 4 || is.some((one) => one !== wanted) || !labelled) problems.push(`tabs: ${key} gives ${JSON.stringify({ focused, chosen, reached, shown, labelled })}, not ${wanted}`);
  }
}

/* The navigation is in sight wherever the reader is, says where that is, and leads there. */
export async function navigationStays(page, problems) {
  const look = () => page.evaluate(() => {
    const box = document.querySelector("nav").getBoundingClientRect();
    return { top: box.top, bottom: box.bottom, current: document.querySelector("nav a[aria-current]")?.textContent };
  });
  const links = await page.locator("nav a").all();
  for (const link of [links[0], links.at(-1), links[Math.floor(links.length / 2)]]) {
    await link.focus();
    await page.keyboard.press("Enter");
    await page.waitForTimeout(150);
    await drawn(page);
    await page.waitForTimeout(100);
    const { top, bottom } = await look();
    const name = await link.textContent();
    const to = await link.evaluate((one) => {
      const place = document.getElementById(one.hash.slice(1));
      const box = place.getBoundingClientRect();
      return { top: box.top, height: box.height, hidden: place.hasAttribute("hidden") };
    });
    const height = page.viewportSize().height;
    if (top < 0 || top > 60 || bottom <= 0) problems.push(`navigation: gone at ${name}: ${top} to ${bottom}`);
    if (to.hidden || !to.height || to.top > height || to.top + to.height < 0) problems.push(`navigation: ${name} leads nowhere: ${JSON.stringify(to)}`);
  }
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await page.waitForTimeout(150);
  const end = await look();
  if (end.top < 0 || end.top > 60) problems.push(`navigation: gone at the end: ${end.top}`);
  await page.evaluate(() => scrollTo(0, 0));
  // A busy machine may take its time over it.
  const isElsewhere = (was) => document.querySelector("nav a[aria-current]")?.textContent !== was;
  await page.waitForFunction(isElsewhere, end.current, { timeout: 10000 }).catch(() => {});
  const begin = await look();
  if (begin.current === end.current) problems.push(`navigation: the same place at both ends: ${end.current}`);
}

/* On a narrow screen what is wider scrolls within its place, which says so. */
export async function clipped(page, problems) {
  for (const tab of [null, ...await tabsOf(page)]) {
    if (tab) await tab.click();
    await drawn(page);
    await page.waitForTimeout(250);
    const found = await page.evaluate(() => {
      const wrong = [];
      const name = (place) => `${place.localName}${place.id && `#${place.id}`}.${place.className?.baseVal ?? place.className}`;
      if (document.documentElement.scrollWidth > innerWidth) wrong.push(`the page is ${document.documentElement.scrollWidth} wide`);
      for (const place of document.querySelectorAll("body *:not(svg *, option, script, style, dialog *)")) {
        const box = place.getBoundingClientRect();
        if (!box.width || !place.checkVisibility({ contentVisibilityAuto: true })) continue;
        const scroller = place.parentElement.closest(".scroll, nav");
        if (box.right > innerWidth + 1 && !scroller) wrong.push(`${name(place)} ends at ${Math.round(box.right)}`);
        const style = getComputedStyle(place);
        const isWider = place.scrollWidth > place.clientWidth + 1 && style.display !== "inline" && style.overflowX !== "visible";
        if (!isWider || place.closest(".js-plotly-plot") || place.localName === "select") continue;
        const mark = getComputedStyle(place, "::before");
        const isMarked = place.hasAttribute("data-scrolls") && mark.content !== "none" && mark.content !== "normal" && mark.position === "sticky";
        if (style.overflowX === "hidden" || style.overflowX === "clip") wrong.push(`${name(place)} is clipped`);
        else if (!isMarked) wrong.push(`${name(place)} scrolls and does not say so`);
        else if (place.localName !== "nav" && place.tabIndex !== 0) wrong.push(`${name(place)} scrolls and no key reaches it`);
      }
      return wrong.slice(0, 5);
    });
    const where = `${page.viewportSize().width} px${tab ? `, ${await tab.textContent()}` : ""}`;
    problems.push(...found.map((one) => `${where}: ${one}`));
  }
}

/* What the cells of a map say is read on their colours, in the light and in the dark: 4.5 to 1 at least. */
export async function faintCells(page, place, problems) {
  if (!await place.locator(".heatmaplayer image").count()) return;
  const id = await place.getAttribute("id");
  for (const theme of ["dark", "light", "system"]) {
    await page.locator("#theme").selectOption(theme);
    await page.waitForTimeout(50);
    const found = await place.evaluate((chart) => {
      const parts = (text) => (text.startsWith("#")
        ? (text.length === 4 ? [...text.slice(1)].map((one) => one + one) : text.slice(1).match(/../g)).map((one) => parseInt(one, 16))
        : text.match(/[\d.]+/g).slice(0, 3).map(Number));
      const light = (rgb) => rgb.map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
        .reduce((sum, part, one) => sum + part * [0.2126, 0.7152, 0.0722][one], 0);
      const contrast = (one, other) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
      const { data } = chart.querySelector(".plot");
      const heat = data.find((one) => one.type === "heatmap");
      const written = data.find((one) => one.name === "numbers");
      const drawn = [...chart.querySelectorAll(".textpoint text")].slice(0, written?.x.length ?? 0);
      const [[, least], [, most]] = heat.colorscale;
      const [from, to] = [parts(least), parts(most)];
      const faint = drawn.flatMap((text, one) => {
        const share = (heat.z[written.y[one]][written.x[one]] - heat.zmin) / (heat.zmax - heat.zmin);
        const cell = light(from.map((part, at) => part + share * (to[at] - part)));
        const found = contrast(light(parts(getComputedStyle(text).fill)), cell);
        return found < 4.5 ? [`'${text.textContent}' has ${found.toFixed(1)} to 1`] : [];
      });
      return written && !drawn.length ? ["no number is drawn"] : faint.slice(0, 2);
    });
    problems.push(...found.map((one) => `${id}, ${theme}: ${one}`));
  }
}

/* No text of a picture lies on another, no name on a mark, and none is cut off by the picture's edge. */
export async function overlaps(page, place, problems) {
  const found = await place.evaluate((whole) => {
    const boxes = (selector, kind) => [...whole.querySelectorAll(selector)].filter((text) => text.textContent.trim())
      .map((text) => ({
        kind, words: text.textContent.trim(), box: text.getBoundingClientRect(),
        turned: Number(/rotate\(([-0-9.]+)/.exec(text.getAttribute("transform") ?? "")?.[1] ?? 0),
      })).filter(({ box }) => box.width > 0);
    const texts = [
      ...boxes(".annotation-text", "name"), ...boxes(".xtitle, .ytitle", "title"), ...boxes(".xtick text, .ytick text", "tick"),
      ...boxes("figure.machine svg text, svg[role=img] text", "machine"),
    ];
    const marks = [...whole.querySelectorAll(".scatterlayer .points path")].map((mark) => mark.getBoundingClientRect());
    const onMark = (box) => marks.some((mark) => Math.min(box.right, mark.right) - Math.max(box.left, mark.left) > 2
      && Math.min(box.bottom, mark.bottom) - Math.max(box.top, mark.top) > 2);
    const edge = whole.querySelector(".main-svg, svg[role=img]")?.getBoundingClientRect();
    const wrong = [];
    texts.forEach((one, position) => {
      if (one.kind === "name" && onMark(one.box)) wrong.push(`'${one.words}' lies on a mark`);
      if (edge && (one.box.right > edge.right + 1 || one.box.left < edge.left - 1)) wrong.push(`'${one.words}' is cut off`);
      texts.slice(position + 1).forEach((other) => {
        // Numbers of both axes may meet in the corner.
        const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
        const down = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
        // Of texts that are turned alike the boxes meet where the letters do not: they stand a line apart.
        const apart = Math.abs(one.box.left - other.box.left) * Math.abs(Math.sin(one.turned * Math.PI / 180));
        if (one.turned && one.turned === other.turned && apart > 10) return;
        if (across > 2 && down > 4) wrong.push(`'${one.words}' lies on '${other.words}'`);
      });
    });
    return wrong.slice(0, 3);
  });
  const id = await place.evaluate((one) => one.id || one.className);
  problems.push(...found.map((one) => `${id}: ${one}`));
}
