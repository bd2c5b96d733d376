// Shows openapi.json as a page: operations by group, each with its parameters, bodies and errors, and a form to call it.
// Text of the document is only ever set as text, never as markup.

const element = (name, text, className) => {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
};

const json = (value) => element("pre", JSON.stringify(value, null, 2));

let whole;

const resolved = (node) => {
  let found = node;
  while (found && found.$ref) {
    found = found.$ref.slice(2).split("/").reduce((at, key) => at[key], whole);
  }
  return found;
};

const typeOf = (schema) => {
  if (!schema) return "anything";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array") return `list of ${typeOf(schema.items)}`;
  return String(schema.type ?? "anything");
};

const row = (cells, kind = "td") => {
  const made = element("tr");
  for (const cell of cells) made.append(cell instanceof Node ? cell : element(kind, cell));
  return made;
};

const fieldsOf = (schema) => {
  const found = resolved(schema);
  const made = element("table");
  for (const [name, field] of Object.entries(found?.properties ?? {})) {
    const needed = (found.required ?? []).includes(name) ? "always" : "";
    made.append(row([name, typeOf(field), needed, resolved(field)?.description ?? ""]));
  }
  return made;
};

const mediaOf = (holder) => Object.entries(holder?.content ?? {})[0] ?? [];

const bodyPart = (title, holder) => {
  const [type, media] = mediaOf(holder);
  const made = element("div");
  if (!media) return made;
  made.append(element("h4", `${title}: ${typeOf(media.schema)} (${type})`), fieldsOf(media.schema));
  if (media.example !== undefined) made.append(json(media.example));
  return made;
};

const inputsOf = (operation) => {
  const made = element("table");
  for (const parameter of operation.parameters ?? []) {
    const input = element("input");
    input.dataset.name = parameter.name;
    input.dataset.place = parameter.in;
    input.placeholder = typeOf(parameter.schema);
    const cell = element("td");
    cell.append(input);
    const needed = parameter.required ? " *" : "";
    made.append(row([parameter.name + needed, cell, parameter.description ?? ""]));
  }
  return made;
};

const called = async (method, path, form, body) => {
  const headers = {};
  const key = document.getElementById("key").value.trim();
  if (key) headers.Authorization = `Bearer ${key}`;
  const query = new URLSearchParams();
  let target = path;
  for (const input of form.querySelectorAll("input")) {
    const { name, place } = input.dataset;
    if (place === "path") target = target.replace(`{${name}}`, encodeURIComponent(input.value));
    else if (place === "header" && input.value) headers[name] = input.value;
    else if (input.value) for (const value of input.value.split(",")) query.append(name, value.trim());
  }
  if (body?.value.trim()) headers["Content-Type"] = "application/json";
  const address = `.${target}${query.size ? `?${query}` : ""}`;
  const answer = await fetch(address, { method: method.toUpperCase(), headers, body: body?.value.trim() || undefined });
  const text = await answer.text();
  let shown = text;
  try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* it is no JSON: shown as it is */ }
  return `${answer.status}\n${shown}`;
};

const tryPart = (method, path, operation) => {
  const made = element("div");
  const inputs = inputsOf(operation);
  made.append(element("h4", "Call it"), inputs);
  const [type, media] = mediaOf(operation.requestBody);
  let body;
  if (type === "application/json") {
    body = element("textarea");
    body.rows = 8;
    body.value = JSON.stringify(media.example ?? {}, null, 2);
    made.append(body);
  }
  const button = element("button", "Send");
  const result = element("pre", "");
  button.addEventListener("click", async () => {
    result.textContent = "…";
    try { result.textContent = await called(method, path, inputs, body); } catch (wrong) { result.textContent = String(wrong); }
  });
  made.append(button, result);
  return made;
};

const answersPart = (operation) => {
  const made = element("div");
  const errors = element("table");
  for (const [status, held] of Object.entries(operation.responses)) {
    const answer = resolved(held);
    if (status.startsWith("2")) made.append(bodyPart(`Answer ${status}`, answer));
    else errors.append(row([status, answer.description]));
  }
  made.append(element("h4", "Errors"), errors);
  return made;
};

const operationPart = (method, path, operation) => {
  const made = element("details");
  made.dataset.words = `${method} ${path} ${operation.operationId} ${operation.description}`.toLowerCase();
  made.id = operation.operationId;
  const head = element("summary");
  head.append(element("span", method.toUpperCase(), "method"));
  head.append(element("span", path, operation.deprecated ? "path retired" : "path"), ` ${operation.summary}`);
  made.append(head);
  made.addEventListener("toggle", () => {
    if (made.childElementCount > 1) return;
    made.append(element("p", operation.description), bodyPart("Request", operation.requestBody));
    made.append(answersPart(operation), tryPart(method, path, operation));
  });
  return made;
};

const show = () => {
  document.getElementById("about").textContent = whole.info.description;
  const groups = new Map();
  for (const [path, operations] of Object.entries(whole.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const name = operation.tags?.[0] ?? "Others";
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(operationPart(method, path, operation));
    }
  }
  const place = document.getElementById("operations");
  for (const [name, parts] of [...groups].sort(([one], [other]) => one.localeCompare(other))) {
    const group = element("section");
    group.append(element("h2", name), ...parts);
    place.append(group);
  }
  document.getElementById(location.hash.slice(1))?.setAttribute("open", "");
};

document.getElementById("find").addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  for (const part of document.querySelectorAll("main details")) part.hidden = !part.dataset.words.includes(wanted);
});

whole = await (await fetch("openapi.json")).json();
show();
