"use strict";
// Theme: as the system says, light, dark.
const THEMES = { "": "as the system", light: "light", dark: "dark" };
for (const button of document.querySelectorAll("button.theme")) {
  let value = theme.get();
  const told = button.querySelector("span");
  told.textContent = THEMES[value];
  button.hidden = false;
  button.addEventListener("click", () => {
    const all = Object.keys(THEMES);
    value = all[(all.indexOf(value) + 1) % all.length];
    told.textContent = THEMES[value];
    theme.set(value);
    document.dispatchEvent(new Event("themechange"));
  });
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
  document.dispatchEvent(new Event("themechange")));

// Sorting: a button in every column head; numbers by data-v, text as it reads.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const key = (row, i) => {
    const cell = row.cells[i];
    return cell.dataset.v === undefined ? cell.textContent.trim() : Number(cell.dataset.v);
  };
  const sort = (i) => {
    const down = heads[i].getAttribute("aria-sort") === "ascending";
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[i].setAttribute("aria-sort", down ? "descending" : "ascending");
    const keyed = [...body.rows].map((row) => [key(row, i), row]);
    keyed.sort(([x], [y]) => {
      const order = typeof x === "number" ? x - y : x.localeCompare(y, "en", { numeric: true });
      return down ? -order : order;
    });
    body.append(...keyed.map(([, row]) => row));
  };
  heads.forEach((head, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sort(i));
  });
}

// Filtering: problem, family, and every word of the text must fit.
for (const form of document.querySelectorAll("form.filters")) {
  const sections = [...document.querySelectorAll("section.problem")];
  const rows = [...document.querySelectorAll("tr[data-text]")].map((row) =>
    ({ row, text: row.dataset.text.toLowerCase(), one: row.closest(".each") !== null }));
  const told = form.querySelector(".shown");
  const { problem, family, text } = form.elements;
  const apply = () => {
    for (const section of sections) section.hidden = problem.value !== "" && section.id !== problem.value;
    const wanted = text.value.toLowerCase().split(/\s+/);
    const which = family.value.toLowerCase();
    let shown = 0;
    for (const each of rows) {
      const fits = (!which || each.row.dataset.family.toLowerCase() === which) &&
        (!each.one || wanted.every((word) => each.text.includes(word)));
      each.row.hidden = !fits;
      if (fits && each.one && !each.row.closest("section").hidden) shown += 1;
    }
    told.textContent = `${shown} instance${shown === 1 ? "" : "s"} shown`;
  };
  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("reset", () => setTimeout(apply));
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();
}

// A link to a table of a section that the filter hides, or to a run, shows it.
const reveal = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const section = target && target.closest("section.problem");
  if (section && section.hidden) document.querySelector("form.filters").reset();
  if (target && target.closest("tr")) {
    document.querySelectorAll("tr.here").forEach((row) => row.classList.remove("here"));
    target.closest("tr").classList.add("here");
  }
};
addEventListener("hashchange", reveal);
reveal();

// Records and answers: packed in a script beside the page, loaded when the first is asked for.
let received;
window.placebenchRuns = (packed) => received(packed);
async function inflated(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const { shared, columns, answers } = await
    new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  const names = [...Object.keys(shared), ...Object.keys(columns)].sort();
  const records = columns.key.map((_, i) => Object.fromEntries(
    names.map((name) => [name, name in shared ? shared[name] : columns[name][i]])));
  const digests = new Set(records.map((record) => record.answer).filter(Boolean));
  return { records, answers: new Map([...digests].map((digest, i) => [digest, answers[i]])) };
}
for (const table of document.querySelectorAll("table[data-runs]")) {
  const dialog = document.querySelector("dialog.record");
  if (!("DecompressionStream" in window) || !dialog.showModal) break;
  let content;
  const load = () => content ||= new Promise((resolve, reject) => {
    received = resolve;
    const script = document.createElement("script");
    script.src = table.dataset.runs;
    script.onerror = () => reject(new Error(`${table.dataset.runs} is not there`));
    document.head.append(script);
  }).then(inflated);
  const save = (name, value) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(value)], { type: "application/json" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  const [saveRecord, saveAnswer, close] = dialog.querySelectorAll("button");
  close.addEventListener("click", () => dialog.close());
  const pretty = (value) => JSON.stringify(value, null, 1).replace(/\[[^[\]{}]*\]/g, (list) => list.replace(/\s+/g, " "));
  const show = async (key) => {
    const title = dialog.querySelector("h2"), texts = dialog.querySelectorAll("pre");
    title.textContent = `Record ${key}`;
    texts.forEach((pre) => { pre.textContent = "loading ..."; });
    dialog.showModal();
    title.focus();
    try {
      const { records, answers } = await load();
      const record = records.find((each) => each.key.startsWith(key)), answer = answers.get(record.answer);
      texts[0].textContent = pretty(record);
      texts[1].textContent = answer ? pretty(answer) : "none";
      saveAnswer.hidden = !answer;
      saveRecord.onclick = () => save(`record-${key}.json`, record);
      saveAnswer.onclick = () => save(`answer-${record.answer.slice(0, 12)}.json`, answer);
    } catch (error) {
      texts.forEach((pre) => { pre.textContent = String(error.message); });
    }
  };
  for (const row of table.tBodies[0].rows) {
    const cell = row.cells[row.cells.length - 1], key = row.id.slice("r-".length);
    const link = document.createElement("a");
    link.href = `#${row.id}`;
    link.append(...cell.childNodes);
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "open";
    button.setAttribute("aria-label", `Open record and answer of ${key}`);
    button.addEventListener("click", () => show(key));
    cell.append(link, " ", button);
  }
}
