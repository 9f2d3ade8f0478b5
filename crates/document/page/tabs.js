// Models on tabs, the navigation that says where the reader is, and what scrolls sideways.

/* Panels that are not chosen are found by a search of the page all the same, and open then. */
const AWAY = "onbeforematch" in document.documentElement ? "until-found" : "";

/* Tabs over the sections of the models; `shown` is called with a section when it is chosen. */
function makeTabs(shown) {
  const tabs = [...document.querySelectorAll("[role=tab]")];
  const panelOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));
  const choose = (chosen) => tabs.forEach((tab) => {
    const isIt = tab === chosen;
    tab.setAttribute("aria-selected", String(isIt));
    tab.tabIndex = isIt ? 0 : -1;
    if (isIt) panelOf(tab).removeAttribute("hidden");
    else panelOf(tab).setAttribute("hidden", AWAY);
    if (isIt) shown(panelOf(tab));
  });
  tabs.forEach((tab, position) => {
    tab.addEventListener("click", () => choose(tab));
    panelOf(tab).addEventListener("beforematch", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const last = tabs.length - 1;
      const to = { ArrowRight: position < last ? position + 1 : 0, ArrowLeft: position ? position - 1 : last, Home: 0, End: last }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      choose(tabs[to]);
      tabs[to].focus();
    });
  });
  /* A link to a section, or to a part of one, opens its tab. */
  const follow = () => {
    const to = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const tab = to && tabs.find((one) => panelOf(one).contains(to));
    if (!tab) return;
    choose(tab);
    (to === panelOf(tab) ? tab.parentElement : to).scrollIntoView();
  };
  addEventListener("hashchange", follow);
  document.querySelector("nav").addEventListener("click", (event) => {
    // The same link again is no change of the address.
    if (event.target.closest("a")?.hash === location.hash) setTimeout(follow);
  });
  document.documentElement.dataset.tabs = "true";
  if (tabs.length) choose(tabs[0]);
  follow();
}

/* The link of the section that is read stands out: the last that begins above the upper third. */
function followReader() {
  const links = [...document.querySelectorAll("nav a")];
  const places = links.map((link) => document.getElementById(link.hash.slice(1)));
  const nav = document.querySelector("nav");
  let waits = false;
  const mark = () => {
    waits = false;
    const isEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const seen = places.map((place, position) => ({ position, box: place?.hidden ? null : place?.getBoundingClientRect() }))
      .filter(({ box }) => box && box.height > 0 && box.top < innerHeight * (isEnd ? 1 : 0.34));
    const now = links[seen.at(-1)?.position ?? 0];
    links.forEach((link) => (link === now ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current")));
    // Where the navigation scrolls, the link is kept in sight.
    const [box, outer] = [now.getBoundingClientRect(), nav.getBoundingClientRect()];
    if (box.right > outer.right || box.left < outer.left) nav.scrollLeft += box.left - outer.left - outer.width / 3;
  };
  const later = () => {
    if (!waits) requestAnimationFrame(mark);
    waits = true;
  };
  addEventListener("scroll", later, { passive: true });
  addEventListener("resize", later);
  document.addEventListener("click", later);
  mark();
}

/* What is wider than its place says that it scrolls, and can be reached by keyboard. */
function markScrolling() {
  const mark = (place) => {
    const scrolls = place.scrollWidth > place.clientWidth + 1;
    place.toggleAttribute("data-scrolls", scrolls);
    if (place.localName === "nav") return;
    if (scrolls) place.tabIndex = 0;
    else place.removeAttribute("tabindex");
  };
  const watch = new ResizeObserver((entries) => new Set(entries.map(({ target }) => target.closest(".scroll, nav"))).forEach(mark));
  document.querySelectorAll(".scroll, nav").forEach((place) => {
    watch.observe(place);
    if (place.localName !== "nav") [...place.children].forEach((child) => watch.observe(child));
  });
}
