/** How the editor reads and colours JSON with comments, and how it looks in the page. */
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

interface Place {
  inComment: boolean;
}

const STRING = /^"(?:\\.|[^"\\])*"?/;

export const jsonWithComments = StreamLanguage.define<Place>({
  name: "jsonc",
  startState: () => ({ inComment: false }),
  languageData: { commentTokens: { line: "//" }, closeBrackets: { brackets: ["[", "{", '"'] } },
  token(stream, place) {
    if (place.inComment) {
      if (stream.match(/^.*?\*\//)) place.inComment = false;
      else stream.skipToEnd();
      return "comment";
    }
    if (stream.eatSpace()) return null;
    if (stream.match(/^\/\/.*/)) return "comment";
    if (stream.match("/*")) {
      place.inComment = true;
      return "comment";
    }
    if (stream.match(STRING)) return stream.match(/^\s*:/, false) ? "propertyName" : "string";
    if (stream.match(/^-?\d[\d.eE+-]*/)) return "number";
    if (stream.match(/^(true|false|null)\b/)) return "bool";
    const mark = stream.next() ?? "";
    return "[]{},:".includes(mark) ? "punctuation" : "invalid";
  },
});

export const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: tags.propertyName, color: "var(--ink)" },
    { tag: tags.string, color: "var(--good)" },
    { tag: tags.number, color: "var(--number)" },
    { tag: tags.bool, color: "var(--word)" },
    { tag: tags.comment, color: "var(--quiet)", fontStyle: "italic" },
    { tag: tags.punctuation, color: "var(--quiet)" },
    { tag: tags.invalid, color: "var(--bad)" },
  ]),
);

const BOX = {
  background: "var(--surface)",
  border: "1px solid var(--line-strong)",
  borderRadius: "6px",
  color: "var(--ink)",
};

export const looks = EditorView.theme({
  "&": { height: "100%", font: "12.5px/19px var(--mono)", color: "var(--ink)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "19px" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { background: "var(--sunken)", color: "var(--quiet)", border: "0" },
  ".cm-activeLine": { background: "transparent" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": {
    background: "var(--accent-wash) !important",
  },
  ".cm-tooltip": BOX,
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    background: "var(--accent-wash)",
    color: "var(--ink)",
  },
  ".cm-completionDetail": { color: "var(--quiet)", fontStyle: "normal" },
  ".cm-completionInfo": { ...BOX, maxWidth: "340px", padding: "6px 10px" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--bad)",
  },
  ".cm-panels": { background: "var(--sunken)", color: "var(--ink)" },
  ".cm-panel input, .cm-panel button": { ...BOX, backgroundImage: "none" },
  ".cm-foldPlaceholder": { ...BOX, background: "var(--sunken)" },
});
