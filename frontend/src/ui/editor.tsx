/** A text to edit, with line numbers and marks where something is wrong. */
import { useEffect, useRef } from "preact/hooks";

export function Editor({
  value,
  change,
  label,
  marks,
  readOnly = false,
  goTo,
}: {
  value: string;
  change: (text: string) => void;
  label: string;
  marks: ReadonlyMap<number, string>;
  readOnly?: boolean;
  goTo?: { line: number } | null;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  const gutter = useRef<HTMLDivElement>(null);
  const lines = value.split("\n").length;
  const follow = () => {
    if (area.current && gutter.current) gutter.current.scrollTop = area.current.scrollTop;
  };
  useEffect(() => {
    const field = area.current;
    if (!field || !goTo) return;
    const start = value.split("\n", goTo.line - 1).join("\n").length + (goTo.line > 1 ? 1 : 0);
    const end = value.indexOf("\n", start);
    field.focus();
    field.setSelectionRange(start, end < 0 ? value.length : end);
    field.scrollTop = Math.max(0, (goTo.line - 6) * 19);
    follow();
  }, [goTo]);
  const indent = (event: KeyboardEvent) => {
    // Tab leaves the field, as everywhere: indenting is what Ctrl+] is for.
    if (event.key !== "]" || !event.ctrlKey) return;
    event.preventDefault();
    document.execCommand("insertText", false, "  ");
  };
  return (
    <div class="editor">
      <div class="gutter" ref={gutter} aria-hidden="true">
        {Array.from({ length: Math.min(lines, 20_000) }, (_, index) => (
          <span
            key={index}
            class={marks.has(index + 1) ? "wrong" : ""}
            title={marks.get(index + 1) ?? ""}
          >
            {index + 1}
          </span>
        ))}
      </div>
      <textarea
        ref={area}
        wrap="off"
        aria-label={label}
        value={value}
        readOnly={readOnly}
        spellcheck={false}
        aria-invalid={marks.size > 0}
        onScroll={follow}
        onKeyDown={indent}
        onInput={(event) => change(event.currentTarget.value)}
      />
    </div>
  );
}
