// The page: a story, a question with a blank, and where the reader looked. No library, no build step.
"use strict";

const $ = (id) => document.getElementById(id);
const PLACEHOLDER = "@placeholder";
const BLANK = /(?<!\w)(?:XXXXX|_{3,}|@placeholder)(?!\w)|\[MASK\]|<mask>|\.{3}|…/;

const state = { candidates: [], answer: null, hop: null, held: null, turn: 0, samples: [], token: "" };

// ---- talking to the service ----

async function send(path, body) {
  const headers = { "Content-Type": "application/json" };
  if (state.token) headers.Authorization = `Bearer ${state.token}`;
  const response = await fetch(path, body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) });
  if (response.status === 401) {
    const given = window.prompt("This service asks for a token:");
    if (given) { state.token = given; return send(path, body); }
  }
  const found = await response.json().catch(() => ({ detail: `the service answered ${response.status}` }));
  if (!response.ok) throw new Error(found.detail);
  return found;
}

function complain(error) { $("error").textContent = error ? String(error.message || error) : ""; }

// ---- the story as words ----

// The Treebank's signs of the tokenised text, and the signs that people write.
const SIGNS = new Map([
  ["``", "“"], ["''", "”"], ["`", "‘"], ["--", "–"],
  ["-LRB-", "("], ["-RRB-", ")"], ["-LSB-", "["], ["-RSB-", "]"], ["-LCB-", "{"], ["-RCB-", "}"],
  [PLACEHOLDER, "____"], ["@begin", "⊢"], ["@end", "⊣"],
]);

function shown(word) { return SIGNS.get(word) || word; }

function spaced(before, word) {
  if (!before) return "";
  if (/^(?:[.,;:!?)\]}”%]|'|n't$|\.\.\.)/.test(shown(word))) return "";
  return /[([{“‘]$/.test(shown(before)) ? "" : " ";
}

function plainWords(text) { return text.match(/[\p{L}\p{N}_@]+(?:[-'’.][\p{L}\p{N}]+)*|[^\s\p{L}\p{N}]/gu) || []; }

// Words without a space between them, such as “You, stay on one line; only a long run of signs may be broken.
function drawWords(into, words, decorate) {
  into.replaceChildren();
  let line = null;
  words.forEach((word, place) => {
    const space = spaced(words[place - 1], word);
    if (space || !line || line.childElementCount > 5) {
      line = document.createElement("span");
      into.append(space, line);
    }
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = shown(word);
    decorate(button, place, word);
    line.append(button);
  });
}

function colour(element, share) {
  element.style.backgroundColor = share > 0.003 ? `rgba(var(--heat), ${Math.min(0.9, share).toFixed(3)})` : "";
}

function drawStory() {
  state.held = null; // it was a word of the previous story
  const seen = state.answer && state.answer.attention;
  const words = seen ? seen.document : plainWords($("text").value);
  const best = new Set(seen ? seen.candidates[0] : []);
  const mentions = new Set(seen ? seen.candidates.flat() : []);
  drawWords($("words"), words, (button, place, word) => {
    button.classList.toggle("mention", mentions.has(place));
    button.classList.toggle("best", best.has(place));
    button.tabIndex = place === 0 ? 0 : -1;
    button.addEventListener("click", () => blank(words, place));
    for (const event of ["mouseenter", "focus"]) button.addEventListener(event, () => hold({ story: place }));
    for (const event of ["mouseleave", "blur"]) button.addEventListener(event, () => hold(null));
    button.title = /\w/.test(word) ? `ask for “${word}”` : "";
  });
  paint();
}

// Arrow keys move through the words, so that the whole story is one tab stop.
function walk(event) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!step || event.target.tagName !== "BUTTON") return;
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const next = buttons[buttons.indexOf(event.target) + step];
  if (next) { event.target.tabIndex = -1; next.tabIndex = 0; next.focus(); event.preventDefault(); }
}

// ---- attention ----

function normal(shares) { const top = Math.max(...shares, 1e-9); return shares.map((share) => share / top); }

// Colour story and query by the final attention, a hop, or the word under the pointer.
function paint() {
  const seen = state.answer && state.answer.attention;
  const story = [...$("words").querySelectorAll("button")];
  const query = [...$("query-words").querySelectorAll("button")];
  if (!seen) { story.forEach((element) => colour(element, 0)); return; }
  const hop = state.hop === null ? null : seen.hops[state.hop];
  const lastHop = hop || seen.hops[seen.hops.length - 1];
  const gap = seen.query.indexOf(PLACEHOLDER);
  let storyShares = hop ? hop.map((row) => row[gap]) : normal(seen.final);
  let queryShares = seen.query.map((_, place) => (place === gap ? 0.5 : 0));
  let hint = hop ? `Which words of the story go with the blank in hop ${state.hop + 1}; point at a word of story or query for others.` : "The final attention, from the blank to the story.";
  if (state.held && lastHop) {
    const number = (state.hop === null ? seen.hops.length - 1 : state.hop) + 1;
    if ("story" in state.held) {
      queryShares = lastHop[state.held.story];
      hint = `What “${shown(seen.document[state.held.story])}” goes with in the query, in hop ${number}.`;
    } else {
      storyShares = lastHop.map((row) => row[state.held.query]);
      queryShares = seen.query.map((_, place) => (place === state.held.query ? 0.5 : 0));
      hint = `Which words of the story go with “${shown(seen.query[state.held.query])}” in hop ${number}.`;
    }
  }
  story.forEach((element, place) => colour(element, storyShares[place] || 0));
  query.forEach((element, place) => colour(element, queryShares[place] || 0));
  $("hint").textContent = hint;
}

function hold(what) { state.held = what; paint(); }

function drawLooks() {
  const seen = state.answer && state.answer.attention;
  $("looks").hidden = !seen;
  if (!seen) return;
  const choices = [...seen.hops.map((_, number) => [number, `Hop ${number + 1}`]), [null, "Final"]];
  $("hops").replaceChildren(...choices.map(([hop, label]) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.setAttribute("aria-pressed", String(hop === state.hop));
    button.addEventListener("click", () => { state.hop = hop; drawLooks(); paint(); });
    return button;
  }));
  drawWords($("query-words"), seen.query, (button, place) => {
    button.tabIndex = place === 0 ? 0 : -1;
    for (const event of ["mouseenter", "focus"]) button.addEventListener(event, () => hold({ query: place }));
    for (const event of ["mouseleave", "blur"]) button.addEventListener(event, () => hold(null));
  });
}

// ---- the question ----

// A new turn makes pending responses of the service obsolete.
function newTurn() {
  document.querySelector("main").classList.remove("waiting");
  return ++state.turn;
}

// Hide a word in its sentence: the sentence becomes the question, the rest of the story stays.
function blank(words, place) {
  if (!/[\p{L}\p{N}]/u.test(words[place])) return;
  const ends = (word) => /^[.!?]$/.test(word);
  let first = place, last = place;
  while (first > 0 && !ends(words[first - 1])) first--;
  while (last < words.length - 1 && !ends(words[last])) last++;
  const closes = (word) => word === "''" || word === "”"; // it belongs to the preceding sentence
  if (first > 0 && closes(words[first])) first++;
  if (closes(words[last + 1])) last++;
  const join = (some) => some.map((word, at) => spaced(some[at - 1], word) + shown(word)).join("");
  const rest = [...words.slice(0, first), ...words.slice(last + 1)];
  if (!rest.length) { complain("The story has only this sentence; there would be nothing left to read."); return; }
  const sentence = words.slice(first, last + 1);
  sentence[place - first] = PLACEHOLDER;
  $("text").value = join(rest);
  $("query").value = join(sentence).replace("____", "___");
  state.answer = null;
  refresh();
  propose(words[place]).then(ask);
}

function drawChips() {
  drawLink();
  $("chips").replaceChildren(...state.candidates.map((name, number) => {
    const chip = document.createElement("li");
    const remove = document.createElement("button");
    remove.type = "button";
    remove.textContent = "×";
    remove.setAttribute("aria-label", `Remove ${name}`);
    remove.addEventListener("click", () => { state.candidates.splice(number, 1); drawChips(); });
    chip.append(name, remove);
    return chip;
  }));
}

async function propose(also) {
  const turn = newTurn();
  try {
    const found = await send("/candidates", { document: $("text").value, query: $("query").value });
    if (turn !== state.turn) return;
    state.candidates = also && !found.includes(also) && $("text").value.includes(also) ? [also, ...found.slice(0, 9)] : found;
    drawChips();
    complain("");
  } catch (error) { if (turn === state.turn) complain(error); }
}

async function ask() {
  complain("");
  const turn = newTurn();
  const document_ = $("text").value, query = $("query").value;
  if (!document_.trim()) return complain("Write or paste a story first.");
  if (!BLANK.test(query) && !query.includes("?")) return complain("The question needs a blank: write ___ where the answer belongs.");
  document.querySelector("main").classList.add("waiting");
  try {
    const body = { document: document_, query, attention: true };
    if (state.candidates.length) body.candidates = state.candidates;
    if ($("reader").value) body.model = $("reader").value;
    const found = await send("/answer", body);
    if (turn !== state.turn) return;
    state.answer = found;
    state.candidates = found.ranking.map((each) => each.answer);
    drawChips();
  } catch (error) {
    if (turn !== state.turn) return;
    state.answer = null;
    complain(error);
  }
  document.querySelector("main").classList.remove("waiting");
  refresh();
}

function drawAnswers() {
  const ranking = state.answer ? state.answer.ranking : [];
  $("answers").replaceChildren(...ranking.map(({ answer, probability }) => {
    const row = document.createElement("li"), name = document.createElement("span");
    const track = document.createElement("div"), bar = document.createElement("div"), share = document.createElement("span");
    name.textContent = answer;
    track.className = "track";
    bar.style.width = `${100 * probability}%`;
    track.append(bar);
    share.className = "share";
    const absent = state.answer.absent.includes(answer);
    share.textContent = absent ? "–" : `${(100 * probability).toFixed(1)} %`;
    if (absent) row.title = "not in the story";
    row.append(name, track, share);
    return row;
  }));
}

function refresh() {
  drawAnswers();
  drawLooks();
  drawStory();
  drawLink();
}

function drawLink() {
  const kept = { d: $("text").value, q: $("query").value, c: state.candidates };
  $("link").href = `#${encodeURIComponent(JSON.stringify(kept))}`;
}

function edit(on) {
  $("edit").setAttribute("aria-pressed", String(on));
  $("edit").textContent = on ? "Done" : "Edit the story";
  $("text").hidden = !on;
  $("words").hidden = on;
  if (on) $("text").focus();
  else { newTurn(); state.answer = null; refresh(); }
}

function take({ d, q, c }) {
  $("text").value = String(d || "");
  $("query").value = String(q || "");
  state.candidates = Array.isArray(c) ? c.map(String) : [];
  state.answer = null;
  state.hop = null;
  drawChips();
  refresh();
}

// A link holds its question after the #, which a browser never sends to a server.
function fromLink() {
  try { return JSON.parse(decodeURIComponent(location.hash.slice(1))); } catch { return null; }
}

async function start() {
  $("edit").addEventListener("click", () => edit($("text").hidden));
  $("ask").addEventListener("click", ask);
  $("propose").addEventListener("click", () => propose());
  $("query").addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); ask(); } });
  for (const id of ["text", "query"]) $(id).addEventListener("input", drawLink);
  $("add").addEventListener("submit", (event) => {
    event.preventDefault();
    const name = $("new").value.trim();
    if (name && !state.candidates.includes(name)) state.candidates.push(name);
    $("new").value = "";
    drawChips();
  });
  $("words").addEventListener("keydown", walk);
  $("query-words").addEventListener("keydown", walk);
  $("samples").addEventListener("change", () => { const sample = state.samples[$("samples").value]; if (sample) { take(sample); ask(); } });
  window.addEventListener("hashchange", () => { const kept = fromLink(); if (kept) { take(kept); ask(); } });
  try {
    const readers = await send("/models");
    $("reader").replaceChildren(...readers.map(({ name }) => new Option(name, name)));
    $("reader-choice").hidden = readers.length < 2;
    state.samples = await send("/stories");
    $("samples").replaceChildren(...state.samples.map(({ t }, number) => new Option(t, number)), new Option("your own text", -1));
  } catch (error) { complain(error); }
  const kept = fromLink() || state.samples[0];
  if (kept) { take(kept); await ask(); } else { edit(true); }
}

start();
