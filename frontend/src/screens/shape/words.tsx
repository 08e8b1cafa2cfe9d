/** What a tool is called and what it says of itself; what is left empty is inherited. */
import { useId } from "preact/hooks";
import type { JsonObject } from "../../types";

export interface WordShape {
  name: string;
  title: string;
  description: string;
  hidden: boolean;
}

export function Words({
  shape,
  put,
  source,
  isNew,
}: {
  shape: WordShape;
  put: (part: Partial<WordShape>) => void;
  source: JsonObject;
  isNew: boolean;
}) {
  const id = useId();
  const inherited = (key: string) => (typeof source[key] === "string" ? String(source[key]) : "");
  return (
    <fieldset class="shape-part">
      <legend>What it is called</legend>
      <label htmlFor={`${id}-n`}>Name</label>
      <input
        id={`${id}-n`}
        type="text"
        value={shape.name}
        spellcheck={false}
        autocomplete="off"
        placeholder={isNew ? `such as my_${inherited("name")}` : ""}
        onInput={(event) => put({ name: event.currentTarget.value })}
      />
      <label htmlFor={`${id}-t`}>Title</label>
      <input
        id={`${id}-t`}
        type="text"
        value={shape.title}
        placeholder={inherited("title")}
        onInput={(event) => put({ title: event.currentTarget.value })}
      />
      <label htmlFor={`${id}-d`}>Description</label>
      <textarea
        id={`${id}-d`}
        rows={2}
        value={shape.description}
        placeholder={inherited("description").slice(0, 400)}
        onInput={(event) => put({ description: event.currentTarget.value })}
      />
      <label class="constant">
        <input
          type="checkbox"
          checked={shape.hidden}
          onChange={() => put({ hidden: !shape.hidden })}
        />
        <span>Hidden: for no client, only a source for other tools</span>
      </label>
    </fieldset>
  );
}
