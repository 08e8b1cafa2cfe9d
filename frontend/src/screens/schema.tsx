/** A schema for reading: one line a field, nested ones below it; the raw form on request. */
import { compact } from "../json";
import { asList, asObject, resolved, typesOf, variants, type Schema } from "../model/schema";
import { isObject, type Json } from "../types";
import { Badge } from "../ui/controls";
import { Empty } from "../ui/states";
import { Text } from "../ui/text";
import { Fold } from "../ui/controls";
import { ValueView } from "../ui/value";
import "./schema.css";

const DEEPEST = 5;

export function SchemaView({
  title,
  schema,
  hidden = [],
}: {
  title: string;
  schema: Json | undefined;
  hidden?: string[];
}) {
  if (!isObject(schema))
    return (
      <section class="schema">
        <h2>{title}</h2>
        <Empty icon="tool" title={`No ${title.toLowerCase()} schema is declared`} />
      </section>
    );
  return (
    <section class="schema">
      <h2>{title}</h2>
      <Members schema={resolved(schema, schema)} root={schema} level={0} />
      {hidden.length > 0 && (
        <p class="hint">
          Hidden from clients and filled in by the gateway:{" "}
          {hidden.map((name) => (
            <code key={name} class="chip">
              <Text of={name} />
            </code>
          ))}
        </p>
      )}
      <Fold title="As JSON">{() => <ValueView value={schema} />}</Fold>
    </section>
  );
}

function Members({ schema, root, level }: { schema: Schema; root: Schema; level: number }) {
  const members = Object.entries(asObject(schema.properties));
  const needed = asList(schema.required);
  if (!members.length)
    return level === 0 ? (
      <p class="hint">
        It takes <Text of={typeLine(schema) || "no fields"} />.
      </p>
    ) : null;
  return (
    <ul class="members">
      {members.slice(0, 200).map(([name, part]) => (
        <Member
          key={name}
          name={name}
          schema={resolved(part, root)}
          root={root}
          required={needed.includes(name)}
          level={level}
        />
      ))}
    </ul>
  );
}

function Member({
  name,
  schema,
  root,
  required,
  level,
}: {
  name: string;
  schema: Schema;
  root: Schema;
  required: boolean;
  level: number;
}) {
  const items = isObject(schema.items) ? resolved(schema.items, root) : null;
  return (
    <li>
      <div class="member">
        <code>
          <Text of={name} />
        </code>
        <span class="field-type">
          <Text of={typeLine(schema)} />
        </span>
        {required && <span class="needed">required</span>}
        {"default" in schema && (
          <Badge>
            default <Text of={compact(schema.default).slice(0, 60)} />
          </Badge>
        )}
        {typeof schema.source_field === "string" && (
          <Badge tone="accent">
            <Text of={schema.source_field} />
          </Badge>
        )}
      </div>
      {typeof schema.description === "string" && (
        <p class="field-help">
          <Text of={schema.description.slice(0, 1000)} />
        </p>
      )}
      {level < DEEPEST && <Members schema={schema} root={root} level={level + 1} />}
      {level < DEEPEST && items && <Members schema={items} root={root} level={level + 1} />}
    </li>
  );
}

function typeLine(schema: Schema): string {
  if (Array.isArray(schema.enum))
    return schema.enum
      .map((one) => compact(one))
      .join(" | ")
      .slice(0, 300);
  const alternatives = variants(schema);
  if (alternatives.length)
    return alternatives.map((one) => String(one.title ?? typesOf(one).join(" | "))).join(" or ");
  const types = typesOf(schema).join(" | ");
  const items = isObject(schema.items) ? typesOf(schema.items).join(" | ") : "";
  return [items ? `${types} of ${items}` : types, schema.format].filter(Boolean).join(", ");
}
