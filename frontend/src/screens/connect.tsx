/** How a client reaches this server: what to paste where. */
import { useState } from "preact/hooks";
import { overview, refreshOverview } from "../live";
import { clientsFor } from "../model/clients";
import { useStore } from "../store";
import type { Overview } from "../types";
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
  const clients = clientsFor(data);
  const [id, setId] = useState(clients[0]!.id);
  const client = clients.find((one) => one.id === id) ?? clients[0]!;
  return (
    <>
      <div class="client-list" role="group" aria-label="Clients">
        {clients.map((one) => (
          <button
            type="button"
            key={one.id}
            aria-pressed={one.id === id}
            onClick={() => setId(one.id)}
          >
            {one.label}
          </button>
        ))}
      </div>
      {client.recipes.map((recipe) => (
        <Snippet key={recipe.where} title={recipe.where} code={recipe.code} />
      ))}
      <section>
        <h2>Tokens</h2>
        <p class="prose">
          {data.place.needs_token
            ? "Clients must send the token that the server was started with (TOOLYARD_TOKEN) as a bearer token. This page does not know it: put it where YOUR_TOKEN stands."
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
