/** Markdown, drawn: no markup from the text, no images from elsewhere, links that lead away. */
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { type Block, blocksIn, type Inline } from "../model/markdown";
import { Cut, plain, Text, WebLink } from "./text";
import "./markdown.css";

const FIRST = 20_000;

export function Drawn({ of }: { of: string }) {
  return (
    <Cut of={of} first={FIRST}>
      {(text) => <Blocks text={text} />}
    </Cut>
  );
}

function Blocks({ text }: { text: string }) {
  const blocks = useMemo(() => blocksIn(text), [text]);
  return <div class="markdown">{blocks.map(drawn)}</div>;
}

function drawn(block: Block, key: number): ComponentChildren {
  switch (block.kind) {
    case "heading":
      return <Heading key={key} level={block.level} inside={block.inside} />;
    case "paragraph":
      return <p key={key}>{block.inside.map(inside)}</p>;
    case "code":
      return (
        <pre key={key} class="code" tabIndex={0}>
          <Text of={block.text} whole />
        </pre>
      );
    case "quote":
      return <blockquote key={key}>{block.blocks.map(drawn)}</blockquote>;
    case "list":
      return <List key={key} start={block.start} items={block.items} />;
    case "table":
      return <Table key={key} head={block.head} rows={block.rows} />;
    case "rule":
      return <hr key={key} />;
  }
}

/** The page has headings of its own above: those of a text stand below them. */
function Heading({ level, inside: words }: { level: number; inside: Inline[] }) {
  return (
    <p class={`heading size-${level}`} role="heading" aria-level={Math.min(6, level + 2)}>
      {words.map(inside)}
    </p>
  );
}

function List({ start, items }: { start: number | null; items: Block[][] }) {
  const rows = items.map((blocks, index) => <li key={index}>{blocks.map(drawn)}</li>);
  return start === null ? <ul>{rows}</ul> : <ol start={start}>{rows}</ol>;
}

function Table({ head, rows }: { head: Inline[][]; rows: Inline[][][] }) {
  return (
    <div class="table-box" tabIndex={0} role="group" aria-label="Table">
      <table class="data">
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th key={index}>{cell.map(inside)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column}>{cell.map(inside)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inside(part: Inline, key: number): ComponentChildren {
  if (typeof part === "string") return <Text key={key} of={part} whole />;
  switch (part.kind) {
    case "code":
      return (
        <code key={key}>
          <Text of={part.text} />
        </code>
      );
    case "strong":
      return <strong key={key}>{part.inside.map(inside)}</strong>;
    case "em":
      return <em key={key}>{part.inside.map(inside)}</em>;
    case "del":
      return <del key={key}>{part.inside.map(inside)}</del>;
    case "link":
      return (
        <span key={key} title={plain(part.to)}>
          <WebLink to={part.to}>{part.inside.map(inside)}</WebLink>
        </span>
      );
    case "image":
      // It would be fetched from wherever the text says: only its words are shown.
      return (
        <span key={key} class="chip" title={plain(part.to)}>
          image: {part.inside.length ? part.inside.map(inside) : <Text of={part.to} />}
        </span>
      );
  }
}
