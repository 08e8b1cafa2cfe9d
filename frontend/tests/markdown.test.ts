import assert from "node:assert/strict";
import { test } from "node:test";
import { blocksIn, inline } from "../src/model/markdown.ts";
import { isMarkdown } from "../src/model/signs.ts";

const paragraph = (...inside: unknown[]) => ({ kind: "paragraph", inside });

test("headings, paragraphs, rules and code are told apart", () => {
  assert.deepEqual(blocksIn("# One #\ntext\n\nTwo\n---\n***\n~~~js\n# no\n~~~\n#not"), [
    { kind: "heading", level: 1, inside: ["One"] },
    paragraph("text"),
    { kind: "heading", level: 2, inside: ["Two"] },
    { kind: "rule" },
    { kind: "code", text: "# no", language: "js" },
    paragraph("#not"),
  ]);
});

test("a fence that nothing closes holds the rest", () => {
  assert.deepEqual(blocksIn("```\na\n\n``\nb"), [
    { kind: "code", text: "a\n\n``\nb", language: "" },
  ]);
});

test("lists hold lists, paragraphs and code, and go on after a blank line", () => {
  assert.deepEqual(blocksIn("1. a\n   b\n\n   - c\n   - d\n2. e\nf\n\n- g"), [
    {
      kind: "list",
      start: 1,
      items: [
        [
          paragraph("a\nb"),
          { kind: "list", start: null, items: [[paragraph("c")], [paragraph("d")]] },
        ],
        [paragraph("e\nf")],
      ],
    },
    { kind: "list", start: null, items: [[paragraph("g")]] },
  ]);
});

test("a quote holds blocks", () => {
  assert.deepEqual(blocksIn("> a\n> - b\nc"), [
    {
      kind: "quote",
      blocks: [paragraph("a"), { kind: "list", start: null, items: [[paragraph("b")]] }],
    },
    paragraph("c"),
  ]);
});

test("a table has as many cells in each row as in its head", () => {
  assert.deepEqual(blocksIn("| a | b |\n|---|:-:|\n| 1 \\| 2 |\n| 3 | 4 | 5 |"), [
    {
      kind: "table",
      head: [["a"], ["b"]],
      rows: [
        [["1 | 2"], []],
        [["3"], ["4"]],
      ],
    },
  ]);
  assert.equal(blocksIn("a | b\nno table")[0]!.kind, "paragraph");
});

test("emphasis, code, links and images stand in a line", () => {
  assert.deepEqual(inline("a **b *c*** `d*` ~~e~~ [f](https://g.h/(i)) ![j](k.png)"), [
    "a ",
    { kind: "strong", inside: ["b ", { kind: "em", inside: ["c"] }] },
    " ",
    { kind: "code", text: "d*" },
    " ",
    { kind: "del", inside: ["e"] },
    " ",
    { kind: "link", to: "https://g.h/(i)", inside: ["f"] },
    " ",
    { kind: "image", to: "k.png", inside: ["j"] },
  ]);
});

test("what only looks like a mark stays text", () => {
  for (const text of ["snake_case_name", "2 * 3 * 4", "a * b", "**", "`a", "[a] (b)", "~x~", "_ _"])
    assert.deepEqual(inline(text), [text]);
  assert.deepEqual(inline("\\*a\\* \\q"), ["*a* \\q"]);
});

test("an address is a link up to the end of it", () => {
  assert.deepEqual(inline("see https://a.b/c_d_e. <http://x.y> (https://z.w)"), [
    "see ",
    { kind: "link", to: "https://a.b/c_d_e", inside: ["https://a.b/c_d_e"] },
    ". ",
    { kind: "link", to: "http://x.y", inside: ["http://x.y"] },
    " (",
    { kind: "link", to: "https://z.w", inside: ["https://z.w"] },
    ")",
  ]);
});

test("markup stays text", () => {
  const text = "<img src=x onerror=alert(1)> <b>bold</b>";
  assert.deepEqual(blocksIn(text), [paragraph(text)]);
});

test("plain prose and JSON are not taken for Markdown", () => {
  for (const text of ["Hello, world.", "a_b * c", '{"a": [1]}', "- one dash", "x = y[0](z"])
    assert.equal(isMarkdown(text), false, text);
  for (const text of ["# Title", "a `b` c", "- a\n- b", "|a|b|\n|---|---|", "**yes**", "[a](b)"])
    assert.equal(isMarkdown(text), true, text);
});

test("whatever is written is read to its end, however long it is", () => {
  const parts = [
    "*",
    "_",
    "**a",
    "`",
    "``a`",
    "[",
    "![",
    "[a](",
    "<http://",
    "> ",
    "- ",
    "1. ",
    "|",
  ];
  parts.push("# ", "a\n", "\n", "~~", "\\", "https://", "((", "|-", "   ", "***a ", "]", "*a **b ");
  for (const part of parts) {
    const text = part.repeat(100_000 / part.length);
    assert.equal(text.trim() === "", blocksIn(text).length === 0, part);
    isMarkdown(text);
  }
});
