// What every template shares: the channel to the host (JSON-RPC over postMessage), and elements
// that are made without markup from strings. A template is one call of `page`; it fills `main`
// and returns what shows the data of a call.

// biome-ignore lint/correctness/noUnusedVariables: each template calls it
function page(build) {
  const config = JSON.parse(document.getElementById("config").textContent);
  const main = document.getElementById("main");
  const requests = new Map();
  let nextId = 1;

  const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");

  const request = (method, params) =>
    new Promise((resolve, reject) => {
      const id = nextId++;
      requests.set(id, { resolve, reject });
      send({ id, method, params });
    });

  const element = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };

  const text = (value) => {
    if (typeof value === "string") return value;
    return value === undefined || value === null ? "" : JSON.stringify(value);
  };

  const callTool = (name, args) => request("tools/call", { name, arguments: args });

  const show = build({ config, main, element, text, callTool }) ?? (() => {});

  addEventListener("message", ({ data: message }) => {
    if (!message || message.jsonrpc !== "2.0") return;
    if (message.id !== undefined && requests.has(message.id)) {
      const { resolve, reject } = requests.get(message.id);
      requests.delete(message.id);
      if (message.error) reject(new Error(message.error.message));
      else resolve(message.result);
      return;
    }
    const { method, params } = message;
    if (method === "ui/notifications/tool-result") show(params.structuredContent ?? params);
    if (method === "ui/notifications/tool-input" && params) show(params.arguments ?? params);
  });

  request("ui/initialize", {
    protocolVersion: "2026-01-26",
    appInfo: { name: document.title, version: "1" },
    appCapabilities: {},
  })
    .then(() => send({ method: "ui/notifications/initialized" }))
    .catch(() => {});
}
