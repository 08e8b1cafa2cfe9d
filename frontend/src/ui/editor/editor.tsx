/** A text to edit: JSON with comments, coloured, completed from a schema, marked where it is wrong.

    It lives in a shadow root: there its styles are sheets of their own, which the page's policy
    allows; as elements in the page it would forbid them. */
import { acceptCompletion, autocompletion, closeBrackets } from "@codemirror/autocomplete";
import {
  defaultKeymap,
  history,
  historyKeymap,
  indentLess,
  indentMore,
} from "@codemirror/commands";
import { bracketMatching, foldGutter, indentOnInput, indentUnit } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, Prec } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "preact/hooks";
import { completions, type Names } from "./completing";
import { colours, jsonWithComments, looks } from "./looks";
import type { Schema } from "../../model/schema";

export interface EditorProps {
  value: string;
  change: (text: string) => void;
  label: string;
  marks: ReadonlyMap<number, string>;
  readOnly?: boolean;
  goTo?: { line: number } | null;
  /** Of the value that is edited; what is offered comes from it. */
  schema?: Schema | null;
  names?: Names;
}

export function Editor(props: EditorProps) {
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const typed = useRef<string[]>([]);
  useEffect(() => {
    const root = box.current!.shadowRoot ?? box.current!.attachShadow({ mode: "open" });
    const made = new EditorView({ parent: root, root, state: stateOf(latest, typed) });
    view.current = made;
    return () => made.destroy();
  }, []);
  useEffect(() => {
    // What was typed comes back as the value, perhaps after more was typed: that is no news.
    if (!typed.current.includes(props.value)) replaceText(view.current!, props.value);
  }, [props.value]);
  useEffect(() => {
    view.current!.dispatch(
      setDiagnostics(view.current!.state, diagnostics(view.current!, props.marks)),
    );
  }, [props.marks, props.value]);
  useEffect(() => {
    view.current!.dispatch({
      effects: EDITABLE.reconfigure(EditorState.readOnly.of(props.readOnly === true)),
    });
  }, [props.readOnly]);
  useEffect(() => {
    if (props.goTo) showLine(view.current!, props.goTo.line);
  }, [props.goTo]);
  return <div class="editor" ref={box} />;
}

const EDITABLE = new Compartment();

const REMEMBERED = 30;

function stateOf(latest: { current: EditorProps }, typed: { current: string[] }): EditorState {
  const { value, label } = latest.current;
  return EditorState.create({
    doc: value,
    extensions: [
      lineNumbers(),
      foldGutter(),
      lintGutter(),
      history(),
      jsonWithComments,
      colours,
      looks,
      bracketMatching(),
      closeBrackets(),
      indentOnInput(),
      indentUnit.of("  "),
      highlightActiveLine(),
      highlightSelectionMatches(),
      // What is shown can be chosen at once: Enter right after the list appeared is meant for it.
      autocompletion({
        override: [(context) => completions(context, latest.current)],
        interactionDelay: 0,
      }),
      // Tab leaves the field, as everywhere, unless there is something to accept.
      Prec.highest(
        keymap.of([
          { key: "Tab", run: acceptCompletion },
          { key: "Mod-]", run: indentMore },
          { key: "Mod-[", run: indentLess },
        ]),
      ),
      keymap.of([...searchKeymap, ...historyKeymap, ...defaultKeymap]),
      EDITABLE.of(EditorState.readOnly.of(latest.current.readOnly === true)),
      EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
      EditorView.updateListener.of((update) => {
        const text = update.state.doc.toString();
        if (!update.docChanged || text === latest.current.value) return;
        typed.current = [...typed.current.slice(1 - REMEMBERED), text];
        latest.current.change(text);
      }),
    ],
  });
}

function replaceText(view: EditorView, text: string): void {
  if (view.state.doc.toString() === text) return;
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
}

function diagnostics(view: EditorView, marks: ReadonlyMap<number, string>) {
  const { doc } = view.state;
  return [...marks].map(([number, message]) => {
    const line = doc.line(Math.max(1, Math.min(number, doc.lines)));
    const indent = /^\s*/.exec(line.text)![0].length;
    return { from: line.from + indent, to: line.to, severity: "error" as const, message };
  });
}

function showLine(view: EditorView, number: number): void {
  const line = view.state.doc.line(Math.max(1, Math.min(number, view.state.doc.lines)));
  view.focus();
  view.dispatch({
    selection: { anchor: line.from, head: line.to },
    effects: EditorView.scrollIntoView(line.from, { y: "center" }),
  });
}
