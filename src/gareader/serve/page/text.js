// Text as people write it: its words, sentences and parts, and where the reader's words stand in it.
"use strict";

const PLACEHOLDER = "@placeholder";
const MARKS = new Map([["@begin", "⊢"], ["@end", "⊣"]]);

// The Treebank's signs of the reader's words, the sign that the page shows, and the others that people write for it.
const SIGNS = new Map(Object.entries({
  "``": '“"„«', "''": '”"»‟', "`": "‘'‚", "'": "’'ʼ´‛", "--": "–—―‒", "...": "…",
  "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}",
}));
const LONG_SIGNS = new Map([["``", ["''", "``"]], ["''", ["''"]], ["--", ["--"]], ["...", ["...", ". . ."]]]);

function shown(word) {
  if (word === PLACEHOLDER) return "___";
  return MARKS.get(word) || (SIGNS.has(word) ? SIGNS.get(word)[0] : word.replace(/(?<=.)'(?=.)|^'(?=\p{L})/gu, "’"));
}

function spaced(before, word) {
  if (!before) return "";
  if (/^(?:[.,;:!?%]+|''|'|'(?:s|re|ve|ll|d|m)|n't|\.\.\.|-R[RSC]B-)$/i.test(word)) return "";
  return /^(?:``?|[$£€#]|-L[RSC]B-)$/.test(before) ? "" : " ";
}

// The reader's words as one text, such as “Don’t,” for `` Do n't , ''.
function written(words) { return words.map((word, at) => spaced(words[at - 1], word) + shown(word)).join(""); }

// ---- words, sentences, parts; all as [start, end] in the text ----

const WORD = /@?[\p{L}\p{N}]+(?:[-'’.][\p{L}\p{N}]+)*/gu;
const CLITIC = /['’](?:s|re|ve|ll|d|m)$/i;

function* wordsIn(text, from = 0, to = text.length) {
  for (const match of text.slice(from, to).matchAll(WORD)) {
    const word = match[0].replace(CLITIC, "");
    yield [from + match.index, from + match.index + word.length];
  }
}

// Everything that is drawn before the reader has split the text: words, the clitics after them, single signs.
function* piecesIn(text, from, to) {
  for (const match of text.slice(from, to).matchAll(/@?[\p{L}\p{N}]+(?:[-'’.][\p{L}\p{N}]+)*|[^\s\p{L}\p{N}]/gu)) {
    const start = from + match.index, end = start + match[0].length, clitic = match[0].match(CLITIC);
    if (clitic) yield [start, end - clitic[0].length];
    yield [clitic ? end - clitic[0].length : start, end];
  }
}

const TITLES = "Mrs?|Ms|Dr|Prof|St|Capt|Col|Gen|Lt|Sgt|Rev|Hon|Jr|Sr|vs|etc|e\\.g|i\\.e|Mt";
const ABBREVIATED = new RegExp(`(?<![\\p{L}\\p{N}])(?:(?!I)\\p{Lu}|${TITLES})\\.$`, "u");
const LONGEST = 2000; // characters of a sentence; a longer one has no full stops and is cut at a space

function sentencesOf(text) {
  const found = [];
  let start = 0;
  const end = (at) => {
    let from = start + text.slice(start, at).search(/\S/);
    if (from < start) { start = at; return; }
    while (at - from > LONGEST) {
      const space = text.lastIndexOf(" ", from + LONGEST);
      const cut = space > from ? space : from + LONGEST;
      found.push([from, cut]);
      from = cut;
    }
    found.push([from, from + text.slice(from, at).trimEnd().length]);
    start = at;
  };
  for (const match of text.matchAll(/[.!?…]+["'”’»)\]]*(?=\s|$)|\n[^\S\n]*\n/g)) {
    const after = match.index + match[0].length;
    const next = text.slice(after, after + 40).trimStart();
    const stop = match[0] === "." && ABBREVIATED.test(text.slice(Math.max(start, match.index - 8), after));
    if (match[0][0] === "\n" || !(stop || /^\p{Ll}/u.test(next))) end(after);
  }
  end(text.length);
  return found;
}

// Runs of whole sentences with about so many words, so that a long text is drawn one part at a time.
function partsOf(text, sentences, words = 500) {
  const parts = [];
  let room = 0;
  for (const [start, end] of sentences) {
    const count = (text.slice(start, end).match(/\S+/g) || []).length;
    if (!parts.length || room < count) { parts.push([start, end]); room = words; }
    parts[parts.length - 1][1] = end;
    room -= count;
  }
  return parts.length ? parts : [[0, text.length]];
}

// The parts that share the most and the rarest words with the question, in the order of the text.
function bestParts(text, parts, query, most = 3) {
  const has = parts.map(([start, end]) => new Set(text.slice(start, end).toLowerCase().match(WORD)));
  const score = new Array(parts.length).fill(0);
  for (const word of new Set(query.toLowerCase().match(WORD))) {
    const count = has.filter((words) => words.has(word)).length;
    has.forEach((words, number) => { if (words.has(word)) score[number] += Math.log(1 + parts.length / count); });
  }
  const order = parts.map((_, number) => number).sort((a, b) => score[b] - score[a] || a - b);
  return order.slice(0, most).sort((a, b) => a - b).map((number) => parts[number]);
}

// ---- where the reader's words stand ----

const SKIPPED = /[\s\u0000-\u001f\u007f-\u009f\u00ad\ufeff\u200b-\u200f\u2060\ufe0e\ufe0f]/;

function plain(sign) { return /[’ʼ´‛]/.test(sign) ? "'" : sign; }

function endOf(text, at, word) {
  for (const sign of LONG_SIGNS.get(word) || []) if (text.startsWith(sign, at)) return at + sign.length;
  if (SIGNS.has(word) && text[at] && SIGNS.get(word).includes(text[at])) return at + 1;
  const start = at;
  for (const sign of word) {
    while (start < at && at < text.length && ((text[at] === "_" && sign !== "_") || SKIPPED.test(text[at]))) at++;
    if (!text.startsWith(sign, at) && plain(text[at] || "") !== sign) return -1;
    at += sign.length;
  }
  return at;
}

// [start, end] of each of the reader's words; empty for one that the reader made up, such as a second full stop.
function placesOf(text, words) {
  let at = 0;
  return words.map((word) => {
    while (at < text.length && (text[at] === "_" || SKIPPED.test(text[at]))) at++;
    const ahead = /[\p{L}\p{N}]/u.test(word) ? 40 : 0;
    for (let start = at; start <= at + ahead; start++) {
      const end = endOf(text, start, word);
      if (end >= 0) { at = end; return [start, end]; }
    }
    return [at, at];
  });
}
