/** What a running call asks: a form, a link to open, a message to write, folders to name. */
import { useEffect, useRef, useState } from "preact/hooks";
import { keepRoots, linesOf, rootsAnswer } from "../model/preferences";
import { compact } from "../json";
import { wrongFields } from "../model/answers";
import { initial, resolved } from "../model/schema";
import { asList, asObject } from "../model/schema";
import { isObject, type JsonObject, type Question } from "../types";
import { ObjectFields } from "../ui/form/fields";
import { Failure } from "../ui/states";
import { isWebUrl, LongText, Text } from "../ui/text";
import "./questions.css";

interface Answering {
  question: Question;
  answer: (result: JsonObject) => void;
}

export function Questions({
  questions,
  answer,
}: {
  questions: Record<string, Question>;
  answer: (answers: JsonObject) => Promise<void>;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [answers, setAnswers] = useState<JsonObject>({});
  const [failed, setFailed] = useState<Error | null>(null);
  const open = Object.entries(questions).filter(([key]) => !(key in answers));
  const put = (key: string, result: JsonObject) => {
    const all = { ...answers, [key]: result };
    if (!Object.keys(questions).every((one) => one in all)) return setAnswers(all);
    // The form stays until its answer is taken: a wrong one may be given again.
    setFailed(null);
    answer(all).then(() => setAnswers(all), setFailed);
  };
  const current = open[0];
  useEffect(() => {
    box.current?.querySelector<HTMLElement>(FIRST)?.focus();
  }, [current?.[0]]);
  return (
    <div class="questions" role="alert" ref={box}>
      {failed && <Failure error={failed} />}
      {current && (
        <Asked
          key={current[0]}
          question={current[1]}
          answer={(result) => put(current[0], result)}
        />
      )}
      {open.length > 1 && <p class="hint">{open.length - 1} more after this.</p>}
    </div>
  );
}

// What a person answers with: a field, the link to open, or else the first button.
const FIRST = ":is(.fields, .question) :is(input, select, textarea, a[href], button)";

function Asked({ question, answer }: Answering) {
  if (question.method === "sampling/createMessage")
    return <Sampling question={question} answer={answer} />;
  if (question.method === "roots/list") return <Roots question={question} answer={answer} />;
  if (question.params?.mode === "url") return <OpenUrl question={question} answer={answer} />;
  return <Elicit question={question} answer={answer} />;
}

function Elicit({ question, answer }: Answering) {
  const schema = asObject(question.params?.requestedSchema);
  const [values, setValues] = useState<JsonObject>(
    () => (initial(schema, schema, true) ?? {}) as JsonObject,
  );
  const [wrong, setWrong] = useState<Record<string, string>>({});
  const submit = (event: Event) => {
    event.preventDefault();
    const content = withoutEmpty(values);
    const found = wrongFields(content, schema);
    setWrong(found);
    if (!Object.keys(found).length) answer({ action: "accept", content });
  };
  return (
    <form class="question" onSubmit={submit} noValidate>
      <p class="question-text">
        <Text of={String(question.params?.message ?? "The tool asks:")} />
      </p>
      <ObjectFields
        schema={resolved({ ...schema, additionalProperties: false }, schema)}
        root={schema}
        value={values}
        change={setValues}
        problems={wrong}
      />
      <Buttons answer={answer} accept="Answer" />
    </form>
  );
}

/** A text that was left empty is no answer. */
const withoutEmpty = (values: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== "" && value !== null));

function Buttons({ answer, accept }: { answer: Answering["answer"]; accept: string }) {
  return (
    <p class="question-buttons">
      <button type="submit" class="button primary">
        {accept}
      </button>
      <button type="button" class="button" onClick={() => answer({ action: "decline" })}>
        Decline
      </button>
      <button type="button" class="button" onClick={() => answer({ action: "cancel" })}>
        Dismiss
      </button>
    </p>
  );
}

function OpenUrl({ question, answer }: Answering) {
  const url = String(question.params?.url ?? "");
  return (
    <form
      class="question"
      onSubmit={(event) => {
        event.preventDefault();
        answer({ action: "accept" });
      }}
    >
      <p class="question-text">
        <Text of={String(question.params?.message ?? "The tool asks you to open a page.")} />
      </p>
      <p class="uri">
        {isWebUrl(url) ? (
          <a href={url} target="_blank" rel="noopener noreferrer">
            <Text of={url} />
          </a>
        ) : (
          <>
            <Text of={url} /> (not a web address: it is not offered as a link)
          </>
        )}
      </p>
      <Buttons answer={answer} accept="I have done it" />
    </form>
  );
}

function Sampling({ question, answer }: Answering) {
  const [text, setText] = useState("");
  const messages = asList(question.params?.messages).filter(isObject);
  const submit = (event: Event) => {
    event.preventDefault();
    answer({
      role: "assistant",
      content: { type: "text", text },
      model: "person",
      stopReason: "endTurn",
    });
  };
  return (
    <form class="question" onSubmit={submit}>
      <p class="question-text">The tool asks a model. Answer in its place:</p>
      {typeof question.params?.systemPrompt === "string" && (
        <p class="hint">
          <Text of={question.params.systemPrompt} />
        </p>
      )}
      {messages.map((message, index) => (
        <LongText key={index} of={textOf(message)} />
      ))}
      <label htmlFor="sampled">Your answer</label>
      <textarea
        id="sampled"
        rows={3}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <p class="question-buttons">
        <button type="submit" class="button primary">
          Answer
        </button>
      </p>
    </form>
  );
}

function textOf(message: JsonObject): string {
  const { content } = message;
  if (isObject(content) && typeof content.text === "string") return content.text;
  return compact(content);
}

function Roots({ answer }: Answering) {
  const [text, setText] = useState("");
  const [keep, setKeep] = useState(true);
  const submit = (event: Event) => {
    event.preventDefault();
    if (keep) keepRoots(linesOf(text));
    answer(rootsAnswer(linesOf(text)));
  };
  return (
    <form class="question" onSubmit={submit}>
      <label class="question-text" htmlFor="roots">
        The tool asks which folders it may work in, one a line:
      </label>
      <textarea
        id="roots"
        rows={2}
        value={text}
        placeholder="/home/me/project"
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <label class="constant">
        <input type="checkbox" checked={keep} onChange={() => setKeep(!keep)} />
        <span>Answer so from now on (see Settings)</span>
      </label>
      <p class="question-buttons">
        <button type="submit" class="button primary">
          Answer
        </button>
      </p>
    </form>
  );
}
