// Where the reader looked: the colours of text and question, the number of each word, the strongest pairs.
"use strict";

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
    const others = order.map((place) => `${quoted(place)} (${percent(row[place])})`).join(", ");
    $("hint").textContent = `“${shown(seen.document[held.story])}” goes with ${others} in hop ${number + 1}.`;
    return;
  }
  colour(inQuery, seen.query.map((_, place) => (place === chosen ? 1 : 0)), 2);
  for (const element of inQuery) delete element.dataset.share;
  for (const element of inQuery) element.setAttribute("aria-label", spoken(element));
  const pointed = chosen === null ? "" : `Which words of the text go with ${quoted(chosen)} in hop ${number + 1}.`;
  $("hint").textContent = pointed;
}

function quoted(place) {
  const word = state.seen.query[place];
  return word === PLACEHOLDER ? "the blank" : `“${shown(word)}”`;
}

// The share that colours each word of the text: for one word of the question, for all of them, or the final.
function colouring(number, chosen) {
  const { seen, hop } = state, rows = seen.hops[number];
  const inHop = `in hop ${number + 1}`;
  const column = () => rows.map((row) => row[chosen]);
  if (chosen !== null) return { shares: column(), largestOf: `share for ${quoted(chosen)} ${inHop}` };
  if (hop === null) return { shares: seen.final, largestOf: "share of the final attention" };
  const sum = (row) => row.reduce((all, share, place) => (MARKS.has(seen.query[place]) ? all : all + share), 0);
  return { shares: rows.map(sum), largestOf: `share for the question’s words ${inHop}` };
}

function hold(what, element) {
  state.held = what;
  paint();
  const share = element && element.dataset.share;
  $("tip").hidden = !share;
  if (!share) return;
  const box = element.getBoundingClientRect();
  $("tip").textContent = share;
  const rightmost = document.documentElement.clientWidth - $("tip").offsetWidth - 4;
  $("tip").style.left = `${Math.max(4, Math.min(box.left + scrollX, rightmost))}px`;
  $("tip").style.top = `${box.top + scrollY - $("tip").offsetHeight - 3}px`;
}

function watchWords(id, which) {
  const held = (element) => {
    const inQuery = [...$(id).querySelectorAll("button")].indexOf(element);
    const token = which === "query" ? inQuery : state.units.find((each) => each.element === element)?.token;
    return Number.isInteger(token) ? { [which]: token } : null;
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
    ? "Final: the reader spreads 100 % over the words of the text, and the candidate whose words get the most is its "
      + "answer. Point at a word to see what it goes with in the last hop."
    : `Hop ${state.hop + 1}: each word of the text spreads 100 % over the question below; the more of it goes to words`
      + `${marks ? ", not to the marks ⊢ and ⊣," : ""} the stronger its colour. Point at a word of the question to see `
      + "only its share, or at a word of the text to see where its 100 % go.";
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
  const { seen, hop } = state;
  const found = hop === null
    ? seen.final.map((share, place) => [share, seen.document[place]])
    : seen.hops[hop].flatMap((row, place) => row.map((share, at) => [share, seen.document[place], seen.query[at]]));
  const words = found.filter(([, , inQuery]) => !MARKS.has(inQuery)).sort((a, b) => b[0] - a[0]).slice(0, most);
  return words.map(([share, ...pair]) => [share, ...pair.map(shown)]);
}

function drawPairs() {
  $("pairs").setAttribute("aria-expanded", String(state.pairs));
  const final = state.hop === null;
  $("pairs").textContent = state.pairs ? "Hide the table" : `Show the strongest ${final ? "words" : "pairs"}`;
  $("pair-table").hidden = !state.pairs;
  if (!state.pairs) return;
  const table = document.createElement("table"), head = table.createTHead().insertRow(), body = table.createTBody();
  table.createCaption().textContent = final
    ? "The words with the most final attention"
    : `The strongest pairs of hop ${state.hop + 1}, without the marks ⊢ and ⊣`;
  const columns = ["word of the text", ...(final ? [] : ["→ of the question"]), "share"];
  for (const column of columns) head.append(make("th", column, { scope: "col" }));
  for (const [share, ...words] of strongest()) {
    body.insertRow().append(...[...words, percent(share)].map((each) => make("td", each)));
  }
  $("pair-table").replaceChildren(table);
}
