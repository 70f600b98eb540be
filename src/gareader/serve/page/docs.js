// Shows /openapi.json as tables.
"use strict";

function cell(row, tag, text) { const made = document.createElement(tag); made.textContent = text; row.append(made); }

function resolve(api, schema) { return schema && schema.$ref ? schema.$ref.split("/").slice(1).reduce((at, key) => at[key], api) : schema; }

function kind(api, schema) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return schema.anyOf.map((each) => kind(api, each)).filter((each) => each !== "null").join(" or ");
  if (schema.type === "array") return `list of ${kind(api, schema.items)}`;
  return schema.type || "anything";
}

function table(api, properties, required) {
  const made = document.createElement("table");
  for (const [name, schema] of Object.entries(properties)) {
    const row = made.insertRow();
    cell(row, "th", name);
    if (required) { cell(row, "td", kind(api, schema)); cell(row, "td", required.includes(name) ? "needed" : ""); }
    cell(row, "td", schema.description || "");
  }
  return made;
}

function examples(operation) {
  const contents = [operation.requestBody, operation.responses["200"]].flatMap((each) => Object.values((each || {}).content || {}));
  return contents.flatMap((each) => Object.values(each.examples || {}));
}

async function start() {
  document.getElementById("curl").textContent =
    `curl ${location.origin}/answer -H 'Content-Type: application/json' \\\n  -d '{"document": "Ann has the lamp. Ben has the drum.", "query": "___ has the drum.", "candidates": ["Ann", "Ben"]}'`;
  const api = await (await fetch("/openapi.json")).json();
  const into = document.getElementById("operations");
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const title = document.createElement("h2"), text = document.createElement("p");
      title.textContent = `${method.toUpperCase()} ${path}`;
      text.textContent = operation.description || operation.summary || "";
      into.append(title, text);
      for (const { summary, value } of examples(operation)) {
        const shown = document.createElement("pre");
        shown.textContent = `${summary}\n${typeof value === "string" ? value : JSON.stringify(value, null, 1)}`;
        into.append(shown);
      }
      const responses = Object.entries(operation.responses).map(([code, { description }]) => [code, { description }]);
      into.append(table(api, Object.fromEntries(responses)));
    }
  }
  for (const [name, schema] of Object.entries(api.components.schemas)) {
    const title = document.createElement("h2"), text = document.createElement("p");
    title.textContent = name;
    text.textContent = schema.description || "";
    into.append(title, text, table(api, resolve(api, schema).properties || {}, schema.required || []));
  }
}

start();
