/** Which arguments callers see, under which names, and which are sent without them. */
import { useId } from "preact/hooks";
import { initial } from "../../model/schema";
import type { ArgumentShape, ArgumentState } from "../../model/shape";
import { ObjectFields } from "../../ui/form/fields";
import { Text } from "../../ui/text";
import { Choice } from "../../ui/value";

const STATES: ArgumentState[] = ["shown", "fixed", "hidden"];

export function ArgumentsForm({
  all,
  change,
  own,
}: {
  all: ArgumentShape[];
  change: (all: ArgumentShape[]) => void;
  /** The entry has an inputSchema of its own, which stays as it is. */
  own: boolean;
}) {
  const put = (next: ArgumentShape) =>
    change(all.map((one) => (one.name === next.name ? next : one)));
  return (
    <fieldset class="shape-part">
      <legend>Arguments</legend>
      {own && (
        <p class="hint">
          The entry has an <code>inputSchema</code> of its own, which stays as it is.
        </p>
      )}
      {!all.length && <p class="hint">The source names no arguments.</p>}
      {all.map((one) => (
        <ArgumentRow key={one.name} argument={one} put={put} />
      ))}
    </fieldset>
  );
}

function ArgumentRow({
  argument,
  put,
}: {
  argument: ArgumentShape;
  put: (next: ArgumentShape) => void;
}) {
  const { name, state, schema } = argument;
  const choose = (next: ArgumentState) => {
    const value = argument.value ?? initial(schema, schema, true);
    put({ ...argument, state: next, ...(next === "fixed" ? { value: value ?? null } : {}) });
  };
  return (
    <section class={`shape-argument ${state}`} aria-label={`Argument ${name}`}>
      <div class="shape-argument-head">
        <code>
          <Text of={name} />
        </code>
        {argument.required && <span class="needed">required</span>}
        <Choice label={`What becomes of ${name}`} ways={STATES} way={state} choose={choose} />
      </div>
      {state === "shown" && <Shown argument={argument} put={put} />}
      {state === "fixed" && (
        <ObjectFields
          schema={{
            type: "object",
            properties: { [name]: { ...schema, title: "is always", description: "" } },
            required: [name],
            additionalProperties: false,
          }}
          root={schema}
          value={
            argument.value === undefined || argument.value === null
              ? {}
              : { [name]: argument.value }
          }
          change={(value) => put({ ...argument, value: value[name] ?? null })}
        />
      )}
      {state === "hidden" && (
        <p class="hint">
          Neither shown nor sent.
          {argument.required && " Its source requires it: fix a value in its place."}
        </p>
      )}
    </section>
  );
}

function Shown({ argument, put }: { argument: ArgumentShape; put: (next: ArgumentShape) => void }) {
  const id = useId();
  const inherited =
    typeof argument.schema.description === "string" ? argument.schema.description : "";
  return (
    <div class="shape-pair">
      <label htmlFor={id}>called</label>
      <input
        id={id}
        type="text"
        value={argument.as}
        spellcheck={false}
        aria-label={`New name of ${argument.name}`}
        onInput={(event) => put({ ...argument, as: event.currentTarget.value })}
      />
      <label htmlFor={`${id}-d`}>says</label>
      <textarea
        id={`${id}-d`}
        rows={1}
        value={argument.description}
        placeholder={inherited.slice(0, 200)}
        aria-label={`Description of ${argument.name}`}
        onInput={(event) => put({ ...argument, description: event.currentTarget.value })}
      />
    </div>
  );
}
