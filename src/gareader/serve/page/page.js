// The page: a text, a question with a blank, and where the reader looked. No library, no build step.
"use strict";

const $ = (id) => document.getElementById(id);
const MODELS = "/models", MODEL = "model"; // the list of models, and the key that names one in a question
const TOKEN = "gareader-token";
const LARGEST = 900_000; // bytes of a text that are sent at once; the service takes 1,000,000 for a request

// Everything here belongs to `text`. `source` says who gave the candidates: the service ("proposed"), an example or a
// link ("given"), the user ("own"). `hidden` is the sentence that became the question, `expected` its missing word.
const state = {
  text: "", sentences: [], parts: [[0, 0]], part: 0, counts: null,
  candidates: [], source: "proposed", hidden: null, expected: "",
  answer: null, seen: null, places: [], note: "",
  hop: null, held: null, pairs: false, turn: 0, undo: [], asked: [], units: [],
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
  return `${(100 * share).toFixed(share < 0.0995 && share > 0 ? 1 : 0)} %`;
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
    response = await fetch(path, body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) });
  } catch {
    throw new Error("The service does not answer. See whether “gareader serve” still runs and start it again if not, then press Answer; your text is still here.");
  }
  if (response.status === 401) {
    const given = (window.prompt(token ? "That token is not the service’s. Its token:" : "This service asks for its token:") || "").trim();
    if (/[^\x21-\x7e]/.test(given)) throw new Error("A token has no spaces or accents; press Answer to enter it again.");
    kept(given);
    if (given) return send(path, body);
    throw new Error("This service needs its token, which whoever started it has; press Answer to enter it.");
  }
  const found = await response.json().catch(() => ({ detail: `the service answered ${response.status}; try again in a moment` }));
  if (!response.ok) throw Object.assign(new Error(found.detail), { status: response.status });
  return found;
}

function complain(error) {
  const told = error ? String(error.message || error) : "";
  if (told !== $("error").textContent) $("error").textContent = told;
}

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
  const sentences = sentencesOf(text);
  Object.assign(state, { text, sentences, parts: partsOf(text, sentences), part: 0, counts: null, hidden: null, expected: "" });
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
  return new Set([...counted(...sentence)].filter(([word, count]) => state.counts.get(word) > count).map(([word]) => word));
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
  const pieces = seen
    ? state.places.map(([start, end], token) => [start, end, token]).filter(([start, end]) => from <= start && end <= to && start < end)
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
      element.title = can.has(word) ? `ask for “${word}”` : `“${word}” stands only in this sentence and cannot be asked for`;
    }
    element.classList.toggle("mention", mentions.has(token));
    element.classList.toggle("best", best.has(token));
    return { before, element, token };
  });
  drawUnits($("words"), state.units);
  $("words").append(text.slice(at, to));
  if (focused !== null) {
    const next = state.units.find(({ element }) => Number(element.dataset.at) >= focused) || state.units[0];
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
  const strong = seen ? strongestParts().map(([number, share]) => button(`${number + 1} (${percent(share)})`, go(number), {
    "aria-label": `Go to part ${number + 1}, with ${percent(share)} of the final attention`, "aria-pressed": number === part,
  })) : [];
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

// ---- attention ----

function largest(shares) { return shares.reduce((most, share) => Math.max(most, share), 1e-9); }

function colour(elements, shares, most) {
  elements.forEach((element, place) => {
    const share = shares[place] || 0;
    element.style.setProperty("--share", (share / most).toFixed(3));
    element.dataset.share = percent(share);
    element.setAttribute("aria-label", `${spoken(element)}, ${percent(share)}`);
  });
}

const SPOKEN = new Map([["⊢", "beginning of the question"], ["⊣", "end of the question"], ["___", "blank"]]);

function spoken(element) { return SPOKEN.get(element.textContent) || element.textContent; }

// Colour text and question by the final attention, by a hop, or by what goes with the word under the pointer.
function paint() {
  const { seen, hop, held } = state;
  if (!seen) return;
  const number = hop ?? seen.hops.length - 1, rows = seen.hops[number];
  const chosen = held && rows ? held.query ?? null : null, row = held && rows ? rows[held.story] : null;
  const { shares, largestOf } = colouring(number, chosen);
  const most = largest(shares), words = state.units.filter(({ token }) => Number.isInteger(token));
  colour(words.map(({ element }) => element), words.map(({ token }) => shares[token]), most);
  $("most").textContent = `${percent(most)}, the largest ${largestOf}`;
  const inQuery = [...$("query-words").querySelectorAll("button")];
  if (row) {
    colour(inQuery, row, largest(row));
    const order = row.map((_, place) => place).sort((a, b) => row[b] - row[a]).slice(0, 3);
    $("hint").textContent = `“${shown(seen.document[held.story])}” goes with ${order.map((place) => `${quoted(place)} (${percent(row[place])})`).join(", ")} in hop ${number + 1}.`;
    return;
  }
  colour(inQuery, seen.query.map((_, place) => (place === chosen ? 1 : 0)), 2);
  for (const element of inQuery) delete element.dataset.share;
  for (const element of inQuery) element.setAttribute("aria-label", spoken(element));
  $("hint").textContent = chosen === null ? "" : `Which words of the text go with ${quoted(chosen)} in hop ${number + 1}.`;
}

function quoted(place) { const word = state.seen.query[place]; return word === PLACEHOLDER ? "the blank" : `“${shown(word)}”`; }

function isMark(place) { return MARKS.has(state.seen.query[place]); }

// The share of each word of the text that its colour shows: for one word of the question, for all of them, or the final.
function colouring(number, chosen) {
  const { seen, hop } = state, rows = seen.hops[number];
  if (chosen !== null) return { shares: rows.map((row) => row[chosen]), largestOf: `share for ${quoted(chosen)} in hop ${number + 1}` };
  if (hop === null) return { shares: seen.final, largestOf: "share of the final attention" };
  const sum = (row) => row.reduce((all, share, place) => (isMark(place) ? all : all + share), 0);
  return { shares: rows.map(sum), largestOf: `share for the question’s words in hop ${number + 1}` };
}

function hold(what, element) {
  state.held = what;
  paint();
  const share = element && element.dataset.share;
  $("tip").hidden = !share;
  if (!share) return;
  const box = element.getBoundingClientRect();
  $("tip").textContent = share;
  $("tip").style.left = `${Math.max(4, Math.min(box.left + scrollX, document.documentElement.clientWidth - $("tip").offsetWidth - 4))}px`;
  $("tip").style.top = `${box.top + scrollY - $("tip").offsetHeight - 3}px`;
}

function watchWords(id, which) {
  const held = (element) => {
    const places = which === "story" ? state.units.map(({ element: each, token }) => [each, token]) : [...$(id).querySelectorAll("button")].map((each, place) => [each, place]);
    const found = places.find(([each]) => each === element);
    return found && Number.isInteger(found[1]) ? { [which]: found[1] } : null;
  };
  for (const event of ["mouseover", "focusin"]) {
    $(id).addEventListener(event, ({ target }) => { if (target.tagName === "BUTTON") hold(held(target), target); });
  }
  for (const event of ["mouseout", "focusout"]) $(id).addEventListener(event, () => hold(null));
  $(id).addEventListener("keydown", walk);
}

function drawLooks() {
  const seen = state.seen;
  for (const id of ["looks", "hops", "legend"]) $(id).hidden = !seen;
  if (!seen) { $("tip").hidden = true; return; }
  const choices = [...seen.hops.map((_, number) => [number, `Hop ${number + 1}`]), [null, "Final"]];
  $("hops").replaceChildren(...choices.map(([hop, label]) => button(label, () => {
    state.hop = hop;
    drawLooks();
    paint();
    [...$("hops").children].find((each) => each.textContent === label).focus();
  }, { "aria-pressed": hop === state.hop })));
  const marks = seen.query.some((word) => MARKS.has(word));
  $("how").textContent = state.hop === null
    ? "Final: the reader spreads 100 % over the words of the text, and the candidate whose words get the most is its answer. Point at a word to see what it goes with in the last hop."
    : `Hop ${state.hop + 1}: each word of the text spreads 100 % over the question below; the more of it goes to words${marks ? ", not to the marks ⊢ and ⊣," : ""} the stronger its colour. Point at a word of the question to see only its share, or at a word of the text to see where its 100 % go.`;
  $("marks").hidden = !marks;
  drawUnits($("query-words"), seen.query.map((word, place) => {
    const element = button(shown(word));
    if (MARKS.has(word)) element.title = `${spoken(element)}; the reader sees it as a word`;
    return { before: spaced(seen.query[place - 1], word), element };
  }));
  drawPairs();
}

// [share, word of the text, word of the question] of a hop, without the marks; [share, word] of the final attention.
function strongest(most = 15) {
  const { seen, hop } = state, found = [];
  if (hop === null) seen.final.forEach((share, place) => found.push([share, shown(seen.document[place])]));
  else seen.hops[hop].forEach((row, place) => row.forEach((share, at) => { if (!isMark(at)) found.push([share, shown(seen.document[place]), shown(seen.query[at])]); }));
  return found.sort((a, b) => b[0] - a[0]).slice(0, most);
}

function drawPairs() {
  $("pairs").setAttribute("aria-expanded", String(state.pairs));
  $("pairs").textContent = state.pairs ? "Hide the table" : state.hop === null ? "Show the strongest words" : "Show the strongest pairs";
  $("pair-table").hidden = !state.pairs;
  if (!state.pairs) return;
  const table = document.createElement("table"), head = table.createTHead().insertRow(), body = table.createTBody();
  table.createCaption().textContent = state.hop === null ? "The words with the most final attention" : `The strongest pairs of hop ${state.hop + 1}, without the marks ⊢ and ⊣`;
  const columns = state.hop === null ? ["word of the text", "share"] : ["word of the text", "→ of the question", "share"];
  for (const column of columns) head.append(make("th", column, { scope: "col" }));
  for (const [share, ...words] of strongest()) body.insertRow().append(...words.map((word) => make("td", word)), make("td", percent(share)));
  $("pair-table").replaceChildren(table);
}

// ---- the question ----

// What Undo brings back, and what an entry of the list of answers shows again.
function snapshot() {
  const { text, candidates, source, hidden, expected, answer, seen, places, note, part } = state;
  return { text, query: $("query").value, model: $("model").value, candidates: [...candidates], source, hidden, expected, answer, seen, places, note, part };
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
  if ([...$("model").options].some(({ value }) => value === model)) $("model").value = model;
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
    const others = [...can].filter((each) => /^\p{Lu}|.{5}/u.test(each)).slice(0, 3).map((each) => `“${each}”`);
    const instead = others.length ? `; ask for ${others.join(" or ")} instead` : "; choose a word that also stands elsewhere";
    complain(`“${word}” stands only in this sentence, so the rest of the text cannot answer it${instead}.`);
    return;
  }
  remember();
  forgetAnswer();
  const own = state.source === "own" ? state.candidates : null;
  hide(sentence, start, end);
  refresh();
  if (own) { state.candidates = withExpected(own); drawChips(); ask(); return; }
  propose((names) => {
    const around = names.find((name) => name.split(" ").includes(word) && nameAround(name, sentence, start, end));
    if (around) hide(sentence, ...nameAround(around, sentence, start, end));
    state.candidates = withExpected(names);
  }).then((done) => { if (done) ask(); });
}

function hide(sentence, start, end) {
  const { text } = state;
  Object.assign(state, { hidden: sentence, expected: text.slice(start, end) });
  $("query").value = `${text.slice(sentence[0], start)}___${text.slice(end, sentence[1])}`.replace(/\s+/g, " ");
}

// Where the name stands around a word of the sentence: Lady Margaret around Margaret.
function nameAround(name, [from, to], start, end) {
  for (let at = state.text.indexOf(name, from); at >= 0 && at + name.length <= to; at = state.text.indexOf(name, at + 1)) {
    if (at <= start && end <= at + name.length) return [at, at + name.length];
  }
  return null;
}

function sameName(one, other) {
  const [few, many] = [one.split(" "), other.split(" ")].sort((a, b) => a.length - b.length);
  return few.every((word) => many.includes(word));
}

function withExpected(names) {
  return names.some((name) => sameName(name, state.expected)) ? names : [state.expected, ...names.slice(0, 9)];
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
    Object.assign(state, { candidates: found.map((name) => written(name.split(" "))), source: "proposed" });
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
    try { return await act(piecesOf(false), false); } catch (error) { if (!(long && error.status === 413)) throw error; }
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
  const numbers = state.parts.map(([start, end], number) => (pieces.some(([from, to]) => from < end && start < to && from < to) ? number + 1 : 0)).filter(Boolean);
  return `part${numbers.length > 1 ? "s" : ""} ${numbers.join(", ")}`;
}

// The answer, with attention if the service gives it: for the whole text, or else for its best parts.
async function answered(question) {
  return whole(async (pieces, best) => {
    const body = { ...question, document: joined(pieces) };
    try {
      const answer = await send("/answer", { ...body, attention: true });
      const note = best ? `The text is longer than this service reads at once; it read only ${named(pieces)}, which share the most words with the question.` : "";
      return { answer, seen: answer.attention || null, pieces, note };
    } catch (error) {
      if (best || error.status !== 413 || state.parts.length < 4) throw error;
    }
    const answer = await send("/answer", body), few = piecesOf(true);
    const candidates = answer.ranking.map((each) => each.answer);
    const part = await send("/answer", { ...question, document: joined(few), candidates, attention: true }).catch(() => null);
    const note = part ? `The answer is from the whole text. Where the reader looked is shown for ${named(few)}, read alone: the whole text is too long for that.` : "The text is too long to show where the reader looked.";
    return { answer, seen: part && part.attention, pieces: few, note };
  });
}

async function ask() {
  settle();
  edit(false);
  complain("");
  const query = $("query").value.trim();
  if (!state.text.trim()) { complain("There is no text yet: write or paste one first."); edit(true); return; }
  if (!query) { complain("There is no question yet: write a sentence with ___ where the answer belongs."); $("query").focus(); return; }
  const turn = newTurn();
  waiting(true);
  try {
    const question = { query };
    if (state.candidates.length && (state.source !== "proposed" || state.expected)) question.candidates = state.candidates;
    if ($("model").value) question[MODEL] = $("model").value;
    const { answer, seen, pieces, note } = await answered(question);
    if (turn !== state.turn) return;
    const places = seen ? placed(pieces, seen.document) : [];
    Object.assign(state, { answer, seen, places, note, candidates: answer.ranking.map((each) => written(each.answer.split(" "))) });
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

function right() { return sameName(written(state.answer.best.split(" ")), state.expected); }

function drawAnswers() {
  const { answer, expected } = state;
  $("answers").replaceChildren(...(answer ? answer.ranking : []).map((each) => {
    const row = document.createElement("li"), track = make("div", "", { class: "track" }), bar = document.createElement("div");
    bar.style.width = `${100 * each.probability}%`;
    track.append(bar);
    const absent = answer.absent.includes(each.answer);
    if (absent) row.title = "not in the text";
    row.append(make("span", written(each.answer.split(" "))), track, make("span", absent ? "–" : `${(100 * each.probability).toFixed(1)} %`, { class: "share" }));
    return row;
  }));
  $("verdict").textContent = !answer || !expected ? "" : right() ? `Right: the text has “${expected}” there.` : `Wrong: the text has “${expected}” there.`;
  $("verdict").className = answer && expected ? (right() ? "right" : "wrong") : "";
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
  const same = (one) => ["text", "query", "model", "source"].every((key) => one[key] === now[key]) && String(one.hidden) === String(now.hidden) && String([...one.candidates].sort()) === String([...now.candidates].sort());
  state.asked = [...state.asked.filter((one) => !same(one)), now];
}

function drawAsked() {
  $("asked-box").hidden = !state.asked.length;
  $("asked").replaceChildren(...state.asked.map((one) => {
    const row = document.createElement("li"), best = one.answer.ranking[0];
    const open = button(one.query, () => { remember(); restore(one); }, { title: "show this question again" });
    row.append(open, make("b", `${written(best.answer.split(" "))} ${percent(best.probability)}`));
    if (one.text !== state.text) row.append(make("span", `about “${one.text.trim().slice(0, 30)}…”`, { class: "soft" }));
    return row;
  }));
}

function save() {
  const lines = state.asked.map(({ text, query, hidden, expected, answer: { attention, ...answer } }, number) => JSON.stringify({
    ...answer, id: `question ${number + 1}`, query, document: hidden ? text.slice(0, hidden[0]) + text.slice(hidden[1]) : text,
    ...(expected ? { expected } : {}),
  }));
  const link = make("a", "", { href: URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], { type: "application/jsonl" })), download: "answers.jsonl" });
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

// Show a question; `c` its candidates, `o` who gave them, `m` the model, `h` the hidden sentence, `x` its word.
function take({ d, q, c, o, m, h, x }) {
  remember();
  const text = String(d || "").normalize("NFC"), given = Array.isArray(c) ? c.map(String) : [];
  const source = ["own", "proposed"].includes(o) ? o : given.length ? "given" : "proposed";
  const hidden = Array.isArray(h) && h.length === 2 && h.every(Number.isInteger) && 0 <= h[0] && h[0] < h[1] && h[1] <= text.length ? h : null;
  restore({ text, query: String(q || ""), model: m, candidates: given, source, hidden, expected: hidden ? String(x || "") : "", answer: null, seen: null, places: [], note: "", part: 0, hop: null });
  if (hidden) { state.part = Math.max(0, state.parts.findIndex(([start, end]) => start <= hidden[0] && hidden[1] <= end)); drawStory(); }
}

async function openFile(file) {
  if (!file) return;
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (bytes.length > 20_000_000 || bytes.includes(0)) { complain(`“${file.name}” is no plain text, or has more than 20 MB; save it as .txt, or paste a part of it.`); return; }
  let text;
  try { text = new TextDecoder("utf-8", { fatal: true }).decode(bytes); } catch { text = new TextDecoder("windows-1252").decode(bytes); }
  take({ d: text.replace(/\r\n?/g, "\n") });
  propose();
  $("query").focus();
}

// A link holds its question after the #, which a browser never sends to a server. It is written when it is wanted:
// a long text makes a long link, which no key should have to wait for.
function drawLink() {
  settle();
  const { text, candidates, source, hidden, expected } = state;
  const question = { d: text, q: $("query").value, c: candidates, o: source, m: $("model").value || undefined, ...(hidden ? { h: hidden, x: expected } : {}) };
  $("link").href = `#${encodeURIComponent(JSON.stringify(question))}`;
}

function fromLink() {
  try { return JSON.parse(decodeURIComponent(location.hash.slice(1))); } catch { return null; }
}

function drawAbout(models) {
  const { about, measured } = models.find(({ name }) => name === $("model").value) || {};
  const accuracy = measured && measured.accuracy ? `; ${(100 * measured.accuracy).toFixed(1)} % right in its test` : "";
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
  $("query").addEventListener("keydown", (event) => { if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); ask(); } });
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
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && event.key === "z" && !editing && state.undo.length) { event.preventDefault(); undo(); }
  });
  window.addEventListener("hashchange", () => { const question = fromLink(); if (question) { take(question); ask(); } });
  try {
    const models = await send(MODELS);
    $("model").replaceChildren(...models.map(({ name }) => new Option(name, name)));
    $("model").addEventListener("change", () => { forgetAnswer(); drawAbout(models); });
    drawAbout(models);
  } catch (error) { complain(error); }
  take(fromLink() || EXAMPLES[0]);
  await ask();
}

start();
