/** How a client reaches this server: what to paste where. */
import { useState } from "preact/hooks";
import { get } from "../api";
import { overview, refreshOverview } from "../live";
import { anyOther, serverUrl } from "../model/clients";
import { useRemote, useStore } from "../store";
import type { Client, Overview } from "../types";
import { Snippet } from "../ui/controls";
import { Shown } from "../ui/states";
import { Logins } from "./logins";
import "./connect.css";

export function Connect() {
  const state = useStore(overview);
  return (
    <div class="screen">
      <header class="screen-head">
        <div>
          <h1>Connect</h1>
          <p class="lead">Choose your client, copy, paste.</p>
        </div>
      </header>
      <Shown of={state} retry={refreshOverview} lines={6}>
        {(data) => <Body data={data} />}
      </Shown>
    </div>
  );
}

function Body({ data }: { data: Overview }) {
  const url = serverUrl(data);
  const path = `clients?url=${encodeURIComponent(url)}`;
  const state = useRemote((signal) => get<{ clients: Client[] }>(path, signal), [path]);
  return (
    <>
      <Shown of={state} retry={state.reload} lines={6}>
        {(known) => <Clients clients={[...known.clients, anyOther(data)]} />}
      </Shown>
      <section>
        <h2>Tokens</h2>
        <p class="prose">
          {data.place.needs_token
            ? "Clients must send the token that the server was started with (TOOLYARD_TOKEN) as a bearer token. They take it from the variable of that name: it is in no file."
            : "The server listens on this machine only and asks clients for no token. Bound to another address it refuses to start without TOOLYARD_TOKEN."}{" "}
          The token of this page is another one: it opens the page alone and changes with each
          start.
        </p>
      </section>
      <section>
        <h2>Logins at other servers</h2>
        <Logins />
      </section>
    </>
  );
}

function Clients({ clients }: { clients: Client[] }) {
  const [id, setId] = useState(clients[0]!.id);
  const client = clients.find((candidate) => candidate.id === id) ?? clients[0]!;
  return (
    <>
      <div class="client-list" role="group" aria-label="Clients">
        {clients.map(({ id: own, label }) => (
          <button type="button" key={own} aria-pressed={own === id} onClick={() => setId(own)}>
            {label}
          </button>
        ))}
      </div>
      {client.link && (
        <p>
          <a class="button primary" href={client.link}>
            Add to {client.label}
          </a>
        </p>
      )}
      {client.recipes.map((recipe) => (
        <Snippet key={recipe.where} title={recipe.where} code={recipe.code} />
      ))}
      {client.after && <p class="hint">Then: {client.after}</p>}
    </>
  );
}
