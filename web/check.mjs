// Opens pages in a real Chromium as a reader does, and says what is wrong with them.
// Usage: node web/check.mjs FOLDER [--glance] PAGE...      pictures go to FOLDER; a glance draws all
// charts and operates none
// Prints a line of JSON for each page: its problems, charts and marks. Status 1 where there are
// problems.

import { mkdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { chromium } from "playwright-core";

import { clipped, drawn as drawnNow, faintCells, firstScreen, navigationStays, overlaps, tabsByKeyboard } from "./screens.mjs";

const BROWSER = process.env.CHROMIUM ?? "/usr/bin/chromium";
const [folder, ...rest] = process.argv.slice(2);
const isGlance = rest[0] === "--glance";
const files = rest.slice(isGlance ? 1 : 0);

/* Anything that a quiet page does not do. */
function listen(page, address, problems) {
  page.on("console", (message) => problems.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const asked = request.url();
    if (asked !== address && !asked.startsWith("data:")) problems.push(`request: ${asked}`);
  });
  page.on("dialog", (dialog) => { problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
}

/* Marks that a chart has drawn. A cell says its number, or how it is absent and which reason that has. */
const marksOf = (place) => ({
  heat: place.querySelectorAll(".hm image, .heatmaplayer image").length,
  numbers: [...place.querySelectorAll(".textpoint")].filter((one) => /[0-9]/.test(one.textContent) && !one.textContent.endsWith(")")).length,
  points: place.querySelectorAll(".points path, .violinlayer .points path").length,
  lines: [...place.querySelectorAll(".lines path, .violinlayer path.violin")].filter((one) => one.getAttribute("d")?.length > 4).length,
  absent: [...place.querySelectorAll(".textpoint")].filter((one) => one.textContent.endsWith(")")).length,
});

const pictureOf = (place) => place.querySelector(".main-svg").innerHTML + place.querySelector(".colorbar")?.innerHTML;

/* Chooses another option or switches a box by keyboard alone; the chart must change. */
async function operate(page, chart, problems, kind) {
  const id = await chart.getAttribute("id");
  const controls = await chart.locator(".selectors select, .selectors input, .legend input").all();
  let operated = 0, lists = 0, still = [];
  const drawings = () => chart.evaluate((place) => place.dataset.drawn);
  for (const control of controls.slice(0, 6)) {
    // What a list chose may have fewer lines.
    if (await control.count() === 0) break;
    const drawn = await drawings();
    const before = await chart.evaluate(pictureOf);
    await control.focus();
    const isList = await control.evaluate((one) => one.tagName === "SELECT");
    if (isList) {
      const value = await control.inputValue();
      await page.keyboard.press("ArrowDown");
      if (await control.inputValue() === value) await page.keyboard.press("ArrowUp");
      if (await control.inputValue() === value) problems.push(`${id}: a list does not follow the keyboard`);
    } else {
      await page.keyboard.press("Space");
    }
    await page.waitForTimeout(30);
    const now = await chart.evaluate(pictureOf);
    const name = await control.evaluate((one) => one.parentElement.textContent.trim().slice(0, 40));
    if (await drawings() === drawn) problems.push(`${id}: '${name}' draws nothing`);
    lists += isList;
    if (now === before && isList) still.push(name);
    if (now === before && !isList && kind === "lines") problems.push(`${id}: '${name}' changes nothing`);
    // A box goes back, so that the others have something to change.
    if (!isList) await page.keyboard.press("Space");
    operated += 1;
  }
  // Two statistics of a simulated machine can be the same; not all lists of a chart.
  if (lists && still.length === lists) problems.push(`${id}: no list changes anything: ${still}`);
  return operated;
}

/* Goes to a cell or point by keyboard and opens its samples. */
async function openSamples(page, chart, problems) {
  const id = await chart.getAttribute("id");
  await chart.locator(".plot").first().focus();
  await page.keyboard.press("ArrowRight");
  const told = await chart.locator(".told").textContent();
  if (!told) { problems.push(`${id}: the keyboard tells nothing`); return false; }
  await page.keyboard.press("Enter");
  return lookAtSamples(page, id, problems);
}

/* Points at a run and opens its samples. */
async function openRun(page, chart, problems) {
  const id = await chart.getAttribute("id");
  const run = chart.locator(".violinlayer .points path, .scatterlayer .points path").first();
  await run.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await run.boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.waitForTimeout(200);
  await page.mouse.click(x + width / 2, y + height / 2);
  await page.waitForTimeout(100);
  const opened = await lookAtSamples(page, id, problems);
  if (!opened) problems.push(`${id}: a run opens no samples`);
  return opened;
}

/* Whether samples were opened, with dots or bars and quantiles; they are closed again. */
async function lookAtSamples(page, id, problems) {
  const dialog = page.locator("#samples");
  if (!await dialog.isVisible()) return false;
  const bars = await dialog.locator(".bars .point, .points path").count();
  const quantiles = await dialog.locator("tbody td").allTextContents();
  if (!bars || quantiles.length !== 7 || quantiles.some((text) => !/^[0-9.e+-]+$/.test(text))) {
    problems.push(`${id}: samples without dots, bars or quantiles: ${bars}, ${quantiles}`);
  }
  await page.keyboard.press("Escape");
  return true;
}

/* Whether all charts were drawn: at once, but where the computer is busy. */
async function isDrawn(page, problems) {
  for (let waits = 0; waits < 1200; waits += 1) {
    if (await page.evaluate(() => document.documentElement.dataset.ready)) return true;
    // What runs into an error does not get ready later.
    if (problems.length && waits > 40) break;
    await page.waitForTimeout(50);
  }
  problems.push("the charts were not drawn");
  return false;
}

async function look(browser, file) {
  const address = pathToFileURL(resolve(file)).href;
  const problems = [];
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, colorScheme: "light" });
  const page = await context.newPage();
  // A busy machine takes long over a large page.
  page.setDefaultTimeout(180000);
  listen(page, address, problems);
  await page.goto(address);
  const drawn = await isDrawn(page, problems);
  const charts = {};
  let operated = 0, opened = 0, first = null;
  const name = join(folder, basename(file, ".html"));
  // What was wrong on loading, a script that was refused for instance, is told; nothing can be operated then.
  const isSound = drawn && problems.length === 0;
  if (isSound) {
    first = await firstScreen(page);
    await page.screenshot({ path: `${name}.png`, fullPage: true });
    await tabsByKeyboard(page, problems);
    await navigationStays(page, problems);
    for (const machine of await page.locator("figure.machine").all()) await overlaps(page, machine, problems);
    for (const chart of await page.locator("figure.chart").all()) {
      const id = await chart.getAttribute("id");
      const panel = await chart.evaluate((place) => place.closest("[role=tabpanel]")?.id);
      if (panel) await page.locator(`#${panel}-tab`).click();
      await drawnNow(page);
      await page.waitForTimeout(100);
      await overlaps(page, chart, problems);
      await faintCells(page, chart, problems);
      const marks = await chart.evaluate(marksOf);
      charts[id] = marks;
      const kind = marks.heat || marks.absent ? "heat" : "other";
      if (!Object.values(marks).some((count) => count > 0)) problems.push(`${id}: nothing is drawn`);
      // Cells of more columns have no room for them.
      const columns = await chart.locator(".xtick").count();
      if (marks.heat && !marks.numbers && columns <= 40) problems.push(`${id}: no number is written`);
      // Else figures that hardly differ span all colours.
      const leasts = await chart.evaluate((place) => (place.querySelector(".plot").data ?? []).flatMap((one) => one.zmin ?? []));
      if (marks.heat && !leasts.some((least) => least <= 0) || leasts.some((least) => least > 0)) problems.push(`${id}: colours do not begin at 0`);
      if (isGlance) continue;
      operated += await operate(page, chart, problems, kind === "heat" ? kind : (await chart.locator(".legend input").count() ? "lines" : "other"));
      opened += await (id === "scaling-runs" ? openRun : openSamples)(page, chart, problems);
    }
    await pictures(page, name, problems);
  }
  const foreign = await page.evaluate(() => ({
    // Only the page's own links, to its own parts, and no picture or frame of anybody.
    links: [...document.querySelectorAll("a")].map((link) => link.getAttribute("href")).filter((to) => to && !to.startsWith("#")),
    frames: document.querySelectorAll("iframe, object, embed, img, base, form[action], svg script").length,
    run: Boolean(window.pwned),
  }));
  if (foreign.links.length || foreign.frames || foreign.run) problems.push(`foreign markup: ${JSON.stringify(foreign)}`);
  await context.close();
  return { page: basename(file), problems, operated, opened, first, charts };
}

/* The page in the dark, on a phone, on paper. */
async function pictures(page, name, problems) {
  await page.locator("#theme").focus();
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await paper();
  await page.locator("#theme").selectOption("dark");
  await page.waitForTimeout(100);
  if (await paper() === light) problems.push("the theme's list changes nothing");
  await page.screenshot({ path: `${name}-dark.png` });
  await page.locator("#theme").selectOption("system");
  await page.setViewportSize({ width: 400, height: 844 });
  await page.waitForTimeout(400);
  await clipped(page, problems);
  await navigationStays(page, problems);
  await page.screenshot({ path: `${name}-phone.png`, fullPage: true });
  await page.setViewportSize({ width: 1200, height: 900 });
  await page.pdf({ path: `${name}.pdf`, format: "A4" });
}

await mkdir(folder, { recursive: true });
const browser = await chromium.launch({
  executablePath: BROWSER,
  args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
});
// Two at a time: a page that waits for a picture or a redraw leaves the other the computer.
const told = new Array(files.length);
let next = 0;
const lookOn = async () => {
  for (let at = next++; at < files.length; at = next++) told[at] = await look(browser, files[at]);
};
await Promise.all([lookOn(), lookOn()]);
for (const found of told) console.log(JSON.stringify(found));
const failed = told.some((found) => found.problems.length > 0);
await browser.close();
process.exitCode = failed ? 1 : 0;
