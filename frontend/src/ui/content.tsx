/** What a tool, a prompt or a resource gave back, each kind of content in its own way. */
import { useMemo, useState } from "preact/hooks";
import { thousands } from "../format";
import { parse } from "../json";
import { isApp, isMarkdown } from "../model/signs";
import { isObject, type Fault, type Json, type JsonObject } from "../types";
import { Badge, CopyButton } from "./controls";
import { AppFrame } from "./frame";
import { Markdown } from "./prose";
import { LongText, Text, WebLink } from "./text";
import { Choice, ValueView } from "./value";

const IMAGE = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)$/;
const AUDIO = /^audio\/[\w.+-]+$/;
const BASE64 = /^[A-Za-z0-9+/=\s]*$/;

const FAULTS: Record<Fault, string> = {
  refused: "The call was refused: it did not get as far as the tool.",
  unreached: "The tool was not reached.",
  tool: "The tool says that the call failed.",
  unusable: "The tool answered, and its answer cannot be used.",
};

export function ResultView({ result, fault }: { result: JsonObject; fault?: Fault | null }) {
  const blocks = blocksOf(result);
  const structured = result.structuredContent;
  return (
    <div class="result">
      {result.isError === true && (
        <p class="banner bad">
          <Badge tone="bad">error</Badge> {fault ? FAULTS[fault] : "The call failed."}
        </p>
      )}
      {structured !== undefined && <ValueView value={structured} title="Structured content" />}
      {blocks.map((block, index) => (
        <Block key={index} block={block} repeated={structured !== undefined} />
      ))}
      {!blocks.length && structured === undefined && <ValueView value={result} title="Result" />}
    </div>
  );
}

function blocksOf(result: JsonObject): JsonObject[] {
  if (Array.isArray(result.content)) return result.content.filter(isObject);
  if (Array.isArray(result.contents)) return result.contents.filter(isObject).map(asResource);
  if (Array.isArray(result.messages)) return result.messages.filter(isObject).map(asMessage);
  return [];
}

const asResource = (contents: JsonObject): JsonObject => ({ type: "resource", resource: contents });

const asMessage = (message: JsonObject): JsonObject => ({
  ...(isObject(message.content) ? message.content : { type: "text", text: "" }),
  role: message.role ?? "",
});

export function Block({ block, repeated = false }: { block: JsonObject; repeated?: boolean }) {
  return (
    <section class="block">
      {typeof block.role === "string" && (
        <Badge>
          <Text of={block.role} />
        </Badge>
      )}
      <Inside block={block} repeated={repeated} />
    </section>
  );
}

function Inside({ block, repeated }: { block: JsonObject; repeated: boolean }) {
  const mime = String(block.mimeType ?? "");
  if (block.type === "text" && typeof block.text === "string")
    return <TextBlock text={block.text} repeated={repeated} />;
  if (block.type === "image" && typeof block.data === "string")
    return <Picture mime={mime} data={block.data} />;
  if (block.type === "audio" && typeof block.data === "string")
    return <Sound mime={mime} data={block.data} />;
  if (block.type === "resource" && isObject(block.resource))
    return <ResourceBlock resource={block.resource} />;
  if (block.type === "resource_link") return <LinkBlock block={block} />;
  return <ValueView value={block} title={String(block.type ?? "Content")} />;
}

type TextWay = "markdown" | "json" | "text";

/** Text that is JSON or Markdown can be looked at as such. */
function TextBlock({
  text,
  mime = "",
  repeated,
}: {
  text: string;
  mime?: string;
  repeated: boolean;
}) {
  const value = useMemo(() => jsonIn(text), [text]);
  const marked = value === undefined && (mime === "text/markdown" || isMarkdown(text));
  const ways: TextWay[] =
    value !== undefined ? ["json", "text"] : marked ? ["markdown", "text"] : [];
  const [chosen, setWay] = useState<TextWay | null>(null);
  const way = chosen ?? (repeated ? "text" : (ways[0] ?? "text"));
  return (
    <div class="value">
      <div class="value-head">
        <span class="value-title">Text</span>
        {ways.length > 0 && <Choice ways={ways} way={way} choose={setWay} />}
        <CopyButton text={() => text} />
      </div>
      {way === "json" && value !== undefined ? (
        <ValueView value={value} />
      ) : !text ? (
        <p class="hint">The text is empty.</p>
      ) : way === "markdown" ? (
        <Markdown of={text} />
      ) : (
        <LongText of={text} />
      )}
    </div>
  );
}

function jsonIn(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text) || text.length > 2_000_000) return undefined;
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function Picture({ mime, data }: { mime: string; data: string }) {
  if (!IMAGE.test(mime) || !BASE64.test(data)) return <Unknown mime={mime} size={data.length} />;
  return (
    <figure class="picture">
      <img src={`data:${mime};base64,${data}`} alt="An image in the result" />
      <figcaption class="hint">
        {mime}, {bytes(data)}
      </figcaption>
    </figure>
  );
}

function Sound({ mime, data }: { mime: string; data: string }) {
  if (!AUDIO.test(mime) || !BASE64.test(data)) return <Unknown mime={mime} size={data.length} />;
  return (
    <figure class="picture">
      <audio controls src={`data:${mime};base64,${data}`} />
      <figcaption class="hint">
        {mime}, {bytes(data)}
      </figcaption>
    </figure>
  );
}

function Unknown({ mime, size }: { mime: string; size: number }) {
  return (
    <p class="hint">
      {thousands(size)} characters of <Text of={mime || "unknown type"} />, not shown.
    </p>
  );
}

function ResourceBlock({ resource }: { resource: JsonObject }) {
  const mime = String(resource.mimeType ?? "");
  return (
    <div class="resource-block">
      <p class="uri">
        <Text of={String(resource.uri ?? "")} />{" "}
        {mime && (
          <Badge>
            <Text of={mime} />
          </Badge>
        )}
      </p>
      {typeof resource.text === "string" &&
        (isApp(resource) ? (
          <AppBlock html={resource.text} />
        ) : (
          <TextBlock text={resource.text} mime={mime} repeated={false} />
        ))}
      {typeof resource.blob === "string" && <Blob mime={mime} data={resource.blob} />}
    </div>
  );
}

function AppBlock({ html }: { html: string }) {
  const [way, setWay] = useState<"app" | "text">("app");
  return (
    <div class="value">
      <div class="value-head">
        <span class="value-title">App</span>
        <Choice ways={["app", "text"]} way={way} choose={setWay} />
        <CopyButton text={() => html} />
      </div>
      {way === "app" ? <AppFrame html={html} key={html} /> : <LongText of={html} code />}
    </div>
  );
}

function Blob({ mime, data }: { mime: string; data: string }) {
  if (IMAGE.test(mime)) return <Picture mime={mime} data={data} />;
  if (AUDIO.test(mime)) return <Sound mime={mime} data={data} />;
  return <Unknown mime={mime} size={data.length} />;
}

function LinkBlock({ block }: { block: JsonObject }) {
  const uri = String(block.uri ?? "");
  return (
    <p class="uri">
      <Badge>link</Badge> <Text of={String(block.title ?? block.name ?? "")} />{" "}
      <WebLink to={uri}>
        <Text of={uri} />
      </WebLink>
    </p>
  );
}

function bytes(data: string): string {
  const count = Math.floor((data.length * 3) / 4);
  return count < 10_000 ? `${count} bytes` : `${Math.round(count / 1000)} kB`;
}
