// The page: a text, a question with a blank, and where the reader looked. No library, no build step.
"use strict";

const $ = (id) => document.getElementById(id);
const MODELS = "/models", MODEL = "model"; // the list of models, and the key that names one in a question
const TOKEN = "gareader-token";
const LARGEST = 900_000; // bytes of a text that are sent at once; the service takes 1,000,000 for a request

// Everything here belongs to `text`. `source` says who gave the candidates: the service ("proposed"), an example or a
// link ("given"), the user ("own"). `hidden` is the sentence that became the question, `expected` its missing word,
// `read` what the answer was read from, `wanted` a link's model that this service does not have or has not told yet.
const state = {
  text: "", sentences: [], parts: [[0, 0]], part: 0, counts: null,
  candidates: [], source: "proposed", hidden: null, expected: "",
  answer: null, seen: null, places: [], note: "", read: "", wanted: "",
  hop: null, held: null, pairs: false, turn: 0, undo: [], asked: [], units: [], models: [],
};

function make(tag, text = "", attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function button(text, click, attributes = {}) {
  const made = make("button", text, { type: "button", ...attributes });
  if (click) made.addEventListener("click", click);
  return made;
}

function percent(share) {
  if (share > 0 && share < 0.0005) return "under 0.1 %";
  if (share > 0.9995 && share < 1) return "over 99.9 %";
  const fine = (share > 0 && share < 0.0995) || (share >= 0.995 && share < 1);
  return `${(100 * share).toFixed(fine ? 1 : 0)} %`;
}

// ---- talking to the service ----

function kept(token) { // a browser may forbid storage; the token is then asked for again
  try {
    if (token !== undefined) sessionStorage.setItem(TOKEN, token);
    return sessionStorage.getItem(TOKEN) || "";
  } catch { return token || ""; }
}

async function send(path, body) {
  const headers = { "Content-Type": "application/json" };
  const token = kept();
  if (token) headers.Authorization = `Bearer ${token}`;
  let response;
  try {
    const sent = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
    response = await fetch(path, sent);
  } catch {
    const next = "See whether “gareader serve” still runs and start it again if not, then press Answer";
    throw new Error(`The service does not answer. ${next}; your text is still here.`);
  }
  if (response.status === 401) {
    const question = token ? "That token is not the service’s. Its token:" : "This service asks for its token:";
    const given = (window.prompt(question) || "").trim();
    if (/[^\x21-\x7e]/.test(given)) throw new Error("A token has no spaces or accents; press Answer to try again.");
    kept(given);
    if (given) return send(path, body);
    throw new Error("This service needs its token, which whoever started it has; press Answer to enter it.");
  }
  const unreadable = { detail: `the service answered ${response.status}; try again in a moment` };
  const found = await response.json().catch(() => unreadable);
  if (!response.ok) throw Object.assign(new Error(found.detail), { status: response.status });
  return found;
}

// What is wrong, beside the question; or below the text, if it is about a word there.
function complain(error, place = "error") {
  const problem = error ? String(error.message || error) : "";
  for (const [id, text] of Object.entries({ error: "", told: "", [place]: problem })) {
    if (text !== $(id).textContent) $(id).textContent = text;
  }
}

// A candidate as the service has it, in the Treebank's words.
function asName(candidate) { return written(candidate.split(" ")); }

// A new turn makes pending responses of the service obsolete.
function newTurn() {
  waiting(false);
  return ++state.turn;
}

function waiting(on) {
  const main = document.querySelector("main");
  if (main.classList.contains("waiting") !== on) main.classList.toggle("waiting");
}

// ---- the text, a part of it at a time ----

// Take over what the editor holds. Candidates belong to a text: only the user's own stay, if they all stand in it.
function settle() {
  const text = $("text").value.normalize("NFC");
  if (text === state.text) return false;
  const stay = state.source === "own" && state.candidates.every((name) => text.includes(name));
  if (!stay) Object.assign(state, { candidates: [], source: "proposed" });
  setText(text);
  forgetAnswer();
  return true;
}

function setText(text) {
  const sentences = sentencesOf(text), parts = partsOf(text, sentences);
  Object.assign(state, { text, sentences, parts, part: 0, counts: null, hidden: null, expected: "" });
}

// What the page shows belongs to the question as it was asked; a change of the question removes it.
function forgetAnswer() {
  newTurn();
  complain("");
  const drawn = state.answer || state.hidden || state.note;
  Object.assign(state, { answer: null, seen: null, places: [], note: "" });
  if (drawn) refresh();
}

function sentenceAt(place) { return state.sentences.find(([start, end]) => start <= place && place < end); }

function wordAt(place) {
  const [from, to] = sentenceAt(place) || [0, 0];
  for (const [start, end] of wordsIn(state.text, from, to)) if (start <= place && place < end) return [start, end];
  return null;
}

function counted(from, to) {
  const counts = new Map();
  for (const [start, end] of wordsIn(state.text, from, to)) {
    const word = state.text.slice(start, end);
    counts.set(word, (counts.get(word) || 0) + 1);
  }
  return counts;
}

// The words of a sentence that also stand in another one: only these can be asked for.
function askable(sentence) {
  state.counts ||= counted(0, state.text.length);
  const words = [...counted(...sentence)].filter(([word, count]) => state.counts.get(word) > count);
  return new Set(words.map(([word]) => word));
}

// Words without a space between them, such as “You, stay on one line; only a long run of signs may be broken.
function drawUnits(into, units) {
  into.replaceChildren();
  let line = null;
  units.forEach(({ before, element }, place) => {
    if (before || !line || line.childElementCount > 5) {
      line = document.createElement("span");
      into.append(before, line);
    }
    element.tabIndex = place === 0 ? 0 : -1;
    line.append(element);
  });
}

function drawStory() {
  state.held = null; // it was a word of the previous text
  $("tip").hidden = true;
  const focused = $("words").contains(document.activeElement) ? Number(document.activeElement.dataset.at) : null;
  const { text, seen, hidden } = state, [from, to] = state.parts[state.part];
  const best = new Set(seen ? seen.candidates[0] : []), mentions = new Set(seen ? seen.candidates.flat() : []);
  const tokens = state.places.map(([start, end], token) => [start, end, token]);
  const pieces = seen
    ? tokens.filter(([start, end]) => from <= start && end <= to && start < end)
    : [...piecesIn(text, from, to)];
  const inHidden = (start) => hidden && hidden[0] <= start && start < hidden[1];
  const shownPieces = pieces.filter(([start]) => !inHidden(start));
  if (hidden && from <= hidden[0] && hidden[1] <= to) shownPieces.push([...hidden, null]);
  shownPieces.sort((a, b) => a[0] - b[0]);
  let at = from, sentence = [0, 0], can = new Set(), inside = new Map();
  state.units = shownPieces.map(([start, end, token]) => {
    const before = text.slice(at, start);
    at = end;
    const element = button("", null, { "data-at": start });
    if (token === null) {
      element.className = "gone";
      element.append(make("del", text.slice(start, end)));
      element.title = "hidden while this question stands; click to bring it back";
      element.setAttribute("aria-label", `Hidden while this question stands: ${text.slice(start, end)} Bring it back`);
      return { before, element };
    }
    element.textContent = text.slice(start, end);
    if (start >= sentence[1]) {
      sentence = sentenceAt(start) || [start, end];
      can = askable(sentence);
      inside = new Map([...wordsIn(text, ...sentence)].map((each) => [each[0], text.slice(...each)]));
    }
    const word = inside.get(start);
    if (word) {
      element.classList.toggle("only", !can.has(word));
      element.title = can.has(word) ? `ask for “${word}”` : `“${word}” stands only here and cannot be asked for`;
    }
    element.classList.toggle("mention", mentions.has(token));
    element.classList.toggle("best", best.has(token));
    return { before, element, token };
  });
  drawUnits($("words"), state.units);
  $("words").append(text.slice(at, to));
  if (focused !== null) {
    const next = state.units.findLast(({ element }) => Number(element.dataset.at) <= focused) || state.units[0];
    if (next) { state.units[0].element.tabIndex = -1; next.element.tabIndex = 0; next.element.focus(); }
  }
  drawParts();
  paint();
}

function drawParts() {
  const { parts, part, seen } = state;
  $("parts").hidden = parts.length < 2 || !$("text").hidden;
  if (parts.length < 2) return;
  const go = (number) => () => { state.part = number; drawStory(); $("words").scrollTop = 0; };
  const step = (label, number) => {
    const made = button(label, go(number));
    made.disabled = number < 0 || number >= parts.length;
    return made;
  };
  const strong = (seen ? strongestParts() : []).map(([number, share]) => {
    const label = `${number + 1} (${percent(share)})`;
    return button(label, go(number), { "aria-label": `${label}: go to this part`, "aria-pressed": number === part });
  });
  $("parts").replaceChildren(
    step("Previous", part - 1), make("span", `Part ${part + 1} of ${parts.length}`), step("Next", part + 1),
    ...(strong.length ? [make("span", "most attention:"), ...strong] : []),
  );
}

// [part, share of the final attention], the strongest first.
function strongestParts(most = 3) {
  const shares = new Array(state.parts.length).fill(0);
  let part = 0;
  state.places.forEach(([start], token) => {
    while (part < state.parts.length - 1 && start >= state.parts[part + 1][0]) part++;
    shares[part] += state.seen.final[token];
  });
  return [...shares.entries()].sort((a, b) => b[1] - a[1]).slice(0, most).filter(([, share]) => share > 0.005);
}

// Arrow keys move through the words, so that all of them are one tab stop.
function walk(event) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!step || event.target.tagName !== "BUTTON") return;
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const next = buttons[buttons.indexOf(event.target) + step];
  if (next) { event.target.tabIndex = -1; next.tabIndex = 0; next.focus(); event.preventDefault(); }
}

// ---- the question ----

// What Undo brings back, and what an entry of the list of answers shows again.
function snapshot() {
  const { text, candidates, source, hidden, expected, answer, seen, places, note, read, part } = state;
  const typed = { query: $("query").value, model: $("model").value, candidates: [...candidates] };
  return { text, ...typed, source, hidden, expected, answer, seen, places, note, read, part };
}

function remember() {
  settle();
  if (state.text || $("query").value) state.undo = [...state.undo.slice(-19), snapshot()];
}

function restore({ query, model, text, ...others }) {
  newTurn();
  complain("");
  $("text").value = text;
  $("query").value = query;
  choose(model);
  if (text !== state.text) setText(text);
  Object.assign(state, others, { candidates: [...others.candidates] });
  edit(false);
}

function undo() {
  const last = state.undo.pop();
  if (last) restore(last);
}

// Hide the sentence of a word while it is the question; the text stays as it is.
function blank(place) {
  complain("");
  const found = wordAt(place);
  if (!found) return;
  const [start, end] = found, sentence = sentenceAt(place), word = state.text.slice(start, end);
  const can = askable(sentence);
  if (!can.has(word)) {
    const first = state.text.slice(...wordAt(sentence[0]) || [0, 0]); // its capital is no sign of a name
    const names = [...can].filter((each) => each !== first && /^\p{Lu}|.{5}/u.test(each));
    const others = names.slice(0, 3).map((each) => `“${each}”`);
    const instead = others.length ? `ask for ${others.join(" or ")} instead` : "choose a word that stands elsewhere too";
    complain(`“${word}” stands only in this sentence, so the rest of the text cannot answer it; ${instead}.`, "told");
    return;
  }
  remember();
  forgetAnswer();
  const own = state.source === "own" ? state.candidates : null;
  hide(sentence, start, end);
  refresh();
  if (own) { state.candidates = withExpected(own); drawChips(); ask(); return; }
  const turn = state.turn;
  namesOf(sentence).then((names) => {
    if (turn !== state.turn) return false; // another word was clicked
    const places = names.filter((name) => name.split(" ").includes(word))
      .map((name) => nameAround(name, sentence, start, end));
    const around = places.find(Boolean);
    if (around) hide(sentence, ...around);
    return propose((proposed) => { state.candidates = withExpected(hasExpected(proposed) ? proposed : names); });
  }).then((done) => { if (done) ask(); });
}

// The names of the text, whatever the question asks for; they are found with its sentence, which says how far they reach.
async function namesOf(sentence) {
  try {
    return await whole(async (pieces) => {
      const names = await send("/candidates", { document: joined([...pieces, sentence]), query: "" });
      return names.map(asName).filter((name) => joined(pieces).includes(name));
    });
  } catch { return []; }
}

function hide(sentence, start, end) {
  const { text } = state;
  Object.assign(state, { hidden: sentence, expected: text.slice(start, end) });
  $("query").value = `${text.slice(sentence[0], start)}___${text.slice(end, sentence[1])}`.replace(/\s+/g, " ");
}

// Where the name stands around a word of the sentence: Lady Margaret around Margaret.
function nameAround(name, [from, to], start, end) {
  const at = state.text.indexOf(name, Math.max(from, end - name.length));
  return at >= 0 && at <= start && at + name.length <= to ? [at, at + name.length] : null;
}

function sameName(one, other) {
  const [few, many] = [one.split(" "), other.split(" ")].sort((a, b) => a.length - b.length);
  return few.every((word) => many.includes(word));
}

// Whether the name, or a fuller one, is among them; Frost alone is not the Frost King.
function hasExpected(names) {
  const words = state.expected.split(" ");
  return names.some((name) => words.every((word) => name.split(" ").includes(word)));
}

function withExpected(names) {
  const others = names.filter((name) => !sameName(name, state.expected));
  return hasExpected(names) ? names : [state.expected, ...others.slice(0, 9)];
}

function bringBack() {
  remember();
  forgetAnswer();
  Object.assign(state, { hidden: null, expected: "" });
  refresh();
}

function drawChips() {
  $("chips").replaceChildren(...state.candidates.map((name, number) => {
    const chip = make("li", name);
    chip.append(button("×", () => {
      state.candidates.splice(number, 1);
      state.source = "own";
      forgetAnswer();
      drawChips();
    }, { "aria-label": `Remove ${name}` }));
    return chip;
  }));
}

function add(event) {
  event.preventDefault();
  const name = $("new").value.trim();
  $("new").value = "";
  if (!name || state.candidates.includes(name)) return;
  if (settle()) refresh();
  state.candidates.push(name);
  state.source = "own";
  forgetAnswer();
  drawChips();
}

// Candidates of the text without its hidden sentence; of a text that is too long, those of the best parts.
async function propose(change) {
  settle();
  const turn = newTurn();
  if (!state.text.trim()) { drawChips(); return false; }
  try {
    const query = $("query").value;
    const found = await whole((pieces) => send("/candidates", { document: joined(pieces), query }));
    if (turn !== state.turn) return false;
    Object.assign(state, { candidates: found.map(asName), source: "proposed" });
    if (change) change(state.candidates);
    complain("");
    drawChips();
    return true;
  } catch (error) { if (turn === state.turn) complain(error); return false; }
}

// ---- asking ----

const BETWEEN = "\n\n";

// The text in pieces, without the hidden sentence; with `best`, only the parts nearest to the question.
function piecesOf(best) {
  const ranges = best ? bestParts(state.text, state.parts, $("query").value) : [[0, state.text.length]];
  if (!state.hidden) return ranges;
  const [start, end] = state.hidden;
  return ranges.flatMap(([from, to]) => (from <= start && end <= to ? [[from, start], [end, to]] : [[from, to]]));
}

function joined(pieces) { return pieces.map(([start, end]) => state.text.slice(start, end)).join(BETWEEN); }

// Do it with the whole text, or with its best parts if the service does not take the whole.
async function whole(act) {
  const long = state.parts.length > 3;
  if (!(long && new Blob([state.text]).size > LARGEST)) {
    try {
      return await act(piecesOf(false), false);
    } catch (error) { if (!(long && error.status === 413)) throw error; }
  }
  return act(piecesOf(true), true);
}

function placed(pieces, words) {
  const found = placesOf(joined(pieces), words);
  let piece = 0, from = 0; // where the piece begins in the joined text
  return found.map(([start, end]) => {
    while (piece < pieces.length - 1 && start >= from + pieces[piece][1] - pieces[piece][0] + BETWEEN.length) {
      from += pieces[piece][1] - pieces[piece][0] + BETWEEN.length;
      piece++;
    }
    const shift = pieces[piece][0] - from;
    return [start + shift, end + shift];
  });
}

function named(pieces) {
  const among = ([start, end]) => pieces.some(([from, to]) => from < to && from < end && start < to);
  const numbers = state.parts.flatMap((part, number) => (among(part) ? [number + 1] : []));
  return `part${numbers.length > 1 ? "s" : ""} ${numbers.join(", ")}`;
}

// The answer, with attention if the service gives it: for the whole text, or else for its best parts.
async function answered(question) {
  return whole(async (pieces, best) => {
    const body = { ...question, document: joined(pieces) };
    try {
      const answer = await send("/answer", { ...body, attention: true });
      const only = `it read only ${named(pieces)}, with the most words of the question`;
      const note = best ? `The text is longer than this service reads at once; ${only}.` : "";
      return { answer, seen: answer.attention || null, pieces, note, read: body.document };
    } catch (error) {
      if (best || error.status !== 413 || state.parts.length < 4) throw error;
    }
    const answer = await send("/answer", body), few = piecesOf(true);
    const again = { ...question, document: joined(few), candidates: answer.ranking.map((each) => each.answer) };
    const part = await send("/answer", { ...again, attention: true }).catch(() => null);
    const note = part
      ? `The answer is from the whole text, which is too long to show where the reader looked; that is shown for `
        + `${named(few)}, read alone.`
      : "The text is too long to show where the reader looked.";
    return { answer, seen: part && part.attention, pieces: few, note, read: body.document };
  });
}

function elsewhere({ model }) {
  const { wanted } = state;
  return wanted && `This service has no model “${wanted}”, which the link names; ${model} has answered.`;
}

function doubt({ unsure, remark }) { // what the service says about its own answer
  const parts = [];
  if (unsure) parts.push("Not sure: the first answer is more probably wrong than right.");
  if (remark) parts.push(`${remark[0].toUpperCase()}${remark.slice(1)}.`);
  return parts.join(" ");
}

async function ask() {
  settle();
  edit(false);
  complain("");
  const query = $("query").value.trim();
  if (!state.text.trim()) { complain("There is no text yet: write or paste one first."); edit(true); return; }
  if (!query) {
    complain("There is no question yet: write a sentence with ___ where the answer belongs.");
    $("query").focus();
    return;
  }
  const turn = newTurn();
  waiting(true);
  try {
    if (!state.models.length) await loadModels();
    const question = { query };
    const chosen = state.source !== "proposed" || state.expected;
    if (chosen && state.candidates.length) question.candidates = state.candidates;
    if ($("model").value) question[MODEL] = $("model").value;
    const { answer, seen, pieces, read, note: about } = await answered(question);
    if (turn !== state.turn) return;
    const places = seen ? placed(pieces, seen.document) : [];
    const note = [about, elsewhere(answer), doubt(answer)].filter(Boolean).join(" ");
    const candidates = answer.ranking.map((each) => asName(each.answer));
    Object.assign(state, { answer, seen, places, note, read, candidates });
    if (seen && !seen.hops[state.hop]) state.hop = null;
    if (seen && !state.hidden) state.part = strongestParts(1).map(([part]) => part)[0] ?? state.part;
    list();
  } catch (error) {
    if (turn !== state.turn) return;
    Object.assign(state, { answer: null, seen: null, places: [], note: "" });
    complain(error);
  }
  waiting(false);
  refresh();
}

function right() { return sameName(asName(state.answer.best), state.expected); }

function drawAnswers() {
  const { answer, expected } = state;
  $("answers").replaceChildren(...(answer ? answer.ranking : []).map((each) => {
    const row = make("li"), track = make("div", "", { class: "track" }), bar = make("div");
    bar.style.width = `${100 * each.probability}%`;
    track.append(bar);
    const absent = answer.absent.includes(each.answer);
    if (absent) row.title = "not in the text";
    const share = absent ? "–" : `${(100 * each.probability).toFixed(1)} %`;
    row.append(make("span", asName(each.answer)), track, make("span", share, { class: "share" }));
    return row;
  }));
  const verdict = answer && expected ? (right() ? "Right" : "Wrong") : "";
  const other = verdict === "Wrong" ? `, the reader says “${asName(answer.best)}”` : "";
  $("verdict").textContent = verdict && `${verdict}: the text has “${expected}” there${other}.`;
  $("verdict").className = verdict.toLowerCase();
  $("note").textContent = state.note;
  $("note").hidden = !state.note;
}

function refresh() {
  drawAnswers();
  drawChips();
  drawLooks();
  drawStory();
  drawAsked();
  $("undo").hidden = !state.undo.length;
}

// ---- the list of answers ----

function list() {
  const now = snapshot();
  const key = (one) => JSON.stringify([one.text, one.query, one.model, one.hidden, [...one.candidates].sort()]);
  state.asked = [...state.asked.filter((one) => key(one) !== key(now)), now];
}

function drawAsked() {
  $("asked-box").hidden = !state.asked.length;
  $("asked").replaceChildren(...state.asked.map((one) => {
    const row = document.createElement("li"), best = one.answer.ranking[0];
    const open = button(one.query, () => { remember(); restore(one); }, { title: "show this question again" });
    row.append(open, make("b", `${asName(best.answer)} ${percent(best.probability)}`));
    const beginning = `about “${one.text.trim().slice(0, 30)}…”`;
    if (one.text !== state.text) row.append(make("span", beginning, { class: "soft" }));
    return row;
  }));
}

function save() {
  const lines = state.asked.map(({ read, query, expected, answer: { attention, ...answer } }, number) => {
    const known = expected ? { expected } : {};
    return JSON.stringify({ ...answer, id: `question ${number + 1}`, query, document: read, ...known });
  });
  const file = new Blob(lines.map((line) => `${line}\n`), { type: "application/jsonl" });
  const link = make("a", "", { href: URL.createObjectURL(file), download: "answers.jsonl" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// ---- where a text comes from ----

function edit(on) {
  $("edit").setAttribute("aria-pressed", String(on));
  $("edit").textContent = on ? "Done" : "Edit the text";
  $("text").hidden = !on;
  $("words").hidden = on;
  if (on) { $("text").focus(); drawParts(); } else refresh();
}

function done() {
  if (settle()) propose();
  edit(false);
}

// Show a question: candidates `c`, who gave them `o`, model `m`, hidden sentence `h` and its word `x`.
function take({ d, q, c, o, m, h, x }) {
  remember();
  const text = String(d || "").normalize("NFC"), query = String(q || "");
  const candidates = Array.isArray(c) ? c.map(String) : [];
  const source = ["own", "proposed"].includes(o) ? o : candidates.length ? "given" : "proposed";
  const hidden = isRange(h, text) ? h : null, expected = hidden ? String(x || "") : "";
  const unanswered = { answer: null, seen: null, places: [], note: "", read: "", hop: null };
  restore({ text, query, model: m, candidates, source, hidden, expected, part: 0, ...unanswered });
  if (!hidden) return;
  state.part = Math.max(0, state.parts.findIndex(([start, end]) => start <= hidden[0] && hidden[1] <= end));
  drawStory();
}

function isRange(range, text) {
  if (!Array.isArray(range) || range.length !== 2 || !range.every(Number.isInteger)) return false;
  return range[0] >= 0 && range[0] < range[1] && range[1] <= text.length;
}

async function openFile(file) {
  if (!file) return;
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (bytes.length > 20_000_000 || bytes.includes(0)) {
    complain(`“${file.name}” is no plain text, or has more than 20 MB; save it as .txt, or paste a part of it.`);
    return;
  }
  take({ d: decoded(bytes).replace(/\r\n?/g, "\n") });
  propose();
  $("query").focus();
}

function decoded(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch { return new TextDecoder("windows-1252").decode(bytes); }
}

// A link holds its question after the #, which a browser never sends to a server. It is written when it is wanted:
// a long text makes a long link, which no key should have to wait for.
function drawLink() {
  settle();
  const { text, candidates, source, hidden, expected } = state;
  const asked = { d: text, q: $("query").value, c: candidates, o: source, m: $("model").value || state.wanted };
  const question = hidden ? { ...asked, h: hidden, x: expected } : asked;
  $("link").href = `#${encodeURIComponent(JSON.stringify(question))}`;
}

function fromLink() {
  try { return JSON.parse(decodeURIComponent(location.hash.slice(1))); } catch { return null; }
}

async function loadModels() {
  state.models = await send(MODELS);
  $("model").replaceChildren(...state.models.map(({ name }) => new Option(name, name)));
  choose(state.wanted);
}

function choose(model) {
  const known = [...$("model").options].some(({ value }) => value === model);
  if (known) $("model").value = model;
  state.wanted = known || !model ? "" : String(model);
  drawAbout();
}

function drawAbout() {
  const { about, measured } = state.models.find(({ name }) => name === $("model").value) || {};
  const { accuracy: share, examples } = measured || {};
  const tested = Number.isFinite(share) && Number.isInteger(examples);
  const accuracy = tested ? `; ${(100 * share).toFixed(1)} % of ${examples.toLocaleString("en")} test questions right` : "";
  $("about").textContent = about ? `${about}${accuracy}` : "";
  $("about").hidden = !about;
}

async function start() {
  $("gallery").prepend(...EXAMPLES.map((example) => {
    const item = document.createElement("li"), choose = button("", () => { take(example); ask(); });
    choose.append(make("b", example.kind), " ", make("span", example.title));
    item.append(choose);
    return item;
  }));
  $("own").addEventListener("click", () => { take({}); edit(true); });
  $("file").addEventListener("change", () => { openFile($("file").files[0]); $("file").value = ""; });
  $("edit").addEventListener("click", () => { if ($("text").hidden) edit(true); else done(); });
  $("undo").addEventListener("click", undo);
  $("ask").addEventListener("click", ask);
  $("propose").addEventListener("click", () => { forgetAnswer(); propose(); });
  $("pairs").addEventListener("click", () => { state.pairs = !state.pairs; drawPairs(); });
  $("save").addEventListener("click", save);
  $("forget").addEventListener("click", () => { state.asked = []; drawAsked(); });
  $("add").addEventListener("submit", add);
  $("query").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    ask();
  });
  $("query").addEventListener("input", () => { // another question than that of the hidden sentence
    Object.assign(state, { expected: "" });
    forgetAnswer();
    if (state.hidden) { state.hidden = null; refresh(); }
  });
  $("text").addEventListener("input", () => {
    forgetAnswer();
    Object.assign(state, { hidden: null, expected: "" });
  });
  $("text").addEventListener("change", () => { if (settle()) propose(); });
  $("words").addEventListener("click", ({ target }) => {
    const word = target.closest("button");
    if (!word) return;
    if (word.className === "gone") bringBack(); else blank(Number(word.dataset.at));
  });
  watchWords("words", "story");
  watchWords("query-words", "query");
  for (const event of ["pointerdown", "contextmenu", "focus", "click"]) $("link").addEventListener(event, drawLink);
  window.addEventListener("keydown", (event) => {
    const editing = /^(?:TEXTAREA|INPUT)$/.test(event.target.tagName);
    const wanted = event.key === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey;
    if (!wanted || editing || !state.undo.length) return;
    event.preventDefault();
    undo();
  });
  window.addEventListener("hashchange", () => {
    const question = fromLink();
    if (question) { take(question); ask(); }
  });
  $("model").addEventListener("change", () => { forgetAnswer(); choose($("model").value); });
  const failed = await loadModels().catch((error) => error);
  take(fromLink() || EXAMPLES[0]);
  if (failed) complain(failed); else await ask();
}

start();
