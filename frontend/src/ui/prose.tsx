/** What people wrote: drawn where it is meant as Markdown, as it stands where it is not. */
import { isMarkdown } from "../model/signs";
import { lazy } from "./lazy";
import { LongText, Text } from "./text";

/** A text that is Markdown; what draws it is loaded with the first one. */
export const Markdown = lazy(async () => (await import("./markdown")).Drawn, LongText);

const Description = lazy(async () => (await import("./markdown")).Drawn, Plain);

export function Prose({ of }: { of: string }) {
  return isMarkdown(of) ? <Description of={of} /> : <Plain of={of} />;
}

function Plain({ of }: { of: string }) {
  return (
    <p class="prose">
      <Text of={of} />
    </p>
  );
}
