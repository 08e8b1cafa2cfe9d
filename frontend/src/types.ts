/** What the API answers. Definitions stay raw JSON: whatever a server says is shown. */

export type Json = null | boolean | number | bigint | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

export type Kind = "tools" | "resources" | "templates" | "prompts";

export interface ServerRow {
  name: string;
  kind: "project" | "upstream" | "registry" | "behind";
  state: string;
  /** What the registry says about it. */
  description?: string;
  reason: string | null;
  transport: string | null;
  revision?: string | null;
  era?: string | null;
  info: string | null;
  connections?: number;
  restarts?: number;
  lastError?: string | null;
  stderr?: string;
  retryIn?: number | null;
  tools: number;
  tokens: number;
  calls: number;
  errors: number;
  p50: number | null;
  p95: number | null;
}

/** What this process shares with others, and how it stands with them. */
export interface SharedStore {
  place: string;
  reachable: boolean;
  since: number;
  error: string | null;
  processes: { name: string; address: string; self: boolean }[];
  differences: string[];
}

export interface Overview {
  server: { name: string; title?: string; version?: string; description?: string };
  instructions: string | null;
  toolyard: string;
  uptime: number;
  place: {
    project: string | null;
    registries: string[];
    program: string;
    needs_token: boolean;
    gateway: { url: string; kind: string; registry: string; why: string | null } | null;
  };
  revisions: string[];
  digest: string;
  counts: Record<Kind | "completions", number>;
  tokens: { tools: number; others: number };
  calls: number;
  errors: number;
  servers: ServerRow[];
  store: SharedStore | null;
  /** Those that serve the same, where there are several. */
  processes?: {
    process: string;
    self: boolean;
    host: string;
    pid: number;
    calls: number;
    errors: number;
    /** Their names, states, and the reasons for these. */
    servers: [string, string, string | null][];
  }[];
  warnings: string[];
  broken: Record<string, string>;
  traffic: boolean;
  readOnly: boolean;
}

/** A program that people use servers with. */
export interface Client {
  id: string;
  label: string;
  /** What a person still has to do. */
  after: string;
  /** Hands the server to the program, where it understands such a link. */
  link: string | null;
  recipes: { where: string; code: string }[];
}

export interface EntryRow {
  name: string;
  title?: string;
  description?: string;
  owner: string;
  tokens: number;
}

export interface ToolRow extends EntryRow {
  origin: string;
  source?: string;
  original?: string;
  version?: string;
  pinned?: boolean;
  hidden?: string[];
  projected?: boolean;
  tags?: string[];
  unavailable?: string;
  requires?: string[];
  /** The tools that a composition is made of. */
  uses?: string[];
}

export interface ResourceRow extends EntryRow {
  uri: string;
  mimeType?: string;
}

export interface TemplateRow extends EntryRow {
  uriTemplate: string;
}

export interface PromptRow extends EntryRow {
  arguments?: string[];
}

export interface Listing {
  digest: string;
  tools: ToolRow[];
  resources: ResourceRow[];
  templates: TemplateRow[];
  prompts: PromptRow[];
  completions: string[];
}

export interface Layer {
  label: string;
  definition: JsonObject;
  place: string;
}

export interface Detail {
  kind: Kind;
  name: string;
  definition: JsonObject;
  origin: { source: string; owner: string; place: string };
  owner: string;
  extra: JsonObject;
  tokens: number;
  completes: boolean;
  source?: string;
  projected?: boolean;
  hidden?: string[];
  requires?: string[];
  unavailable?: string | null;
  layers?: Layer[];
  parts?: Record<string, string | null>;
  virtual?: string[];
}

/** Who failed: us before the tool, the way to it, the tool, or us with its answer. */
export type Fault = "refused" | "unreached" | "tool" | "unusable";

export type Outcome = "running" | "ok" | "error" | "cancelled";

export interface TrafficLine {
  number: number;
  at: number;
  method: string;
  name: string;
  client: string;
  caller: string;
  revision: string;
  outcome: Outcome;
  ms: number;
  to: string | null;
  /** Which of several processes ran it. */
  process?: string;
}

export interface Hop {
  to: string;
  at: number;
  ms: number | null;
  arguments: Json;
  result: Json;
  error: string | null;
}

export interface TrafficCall extends TrafficLine {
  params: Json;
  result: Json;
  error: { code?: number; message: string; data?: Json } | null;
  fault: Fault | null;
  tokens: { in: number; out: number };
  hops: Hop[];
  messages: { at: number; kind: string; data: Json }[];
}

export interface Stage {
  name: "arguments" | "sent" | "returned" | "result";
  ms: number;
  tokens: number;
  value?: Json;
  same?: boolean;
  to?: string;
}

export interface Question {
  method: string;
  params?: JsonObject;
}

export interface LoginRow {
  server: string;
  url: string;
  pending: boolean;
  link: string;
  loggedIn: boolean;
  error: string | null;
  issuer?: string;
  scopes?: string[];
  expires?: number | null;
  renews?: boolean;
}

export type SectionName = "tools" | "schemas";

export interface Problem {
  message: string;
  pointer: string;
  section: SectionName | "";
  line: number;
  file?: string;
  /** The file has it already: it disables one entry, and hinders no other change. */
  standing?: boolean;
}

export interface RegistryFile {
  path: string;
  stamp: string;
  format: string;
  readOnly: boolean;
  editable: boolean;
  why: string | null;
  servers: JsonObject[];
  native: JsonObject | null;
  lost: string[];
  sections?: Record<SectionName, string>;
  problems: Problem[];
}

export interface Change {
  name: string;
  kind: "added" | "removed" | "changed" | "disabled";
  before: JsonObject | null;
  after: JsonObject | null;
  reason: string | null;
}

export interface Checked {
  problems: Problem[];
  changes: Change[];
  warnings: string[];
  /** The parts of the file as they would be. */
  sections?: Partial<Record<SectionName, string>>;
  /** The JSON in the result that was sent along, and what the tool would make of it. */
  sample?: { value?: Json; result?: JsonObject; error?: string };
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a model reads, in one view, and what a search finds. */
export type ViewName = "full" | "index" | "search";

export interface ViewCost {
  view: ViewName;
  tools: number;
  tokens: number;
  saved: number;
}

export interface FoundTool {
  name: string;
  server: string;
  score: number;
  callWith: string;
  tokens: number;
}

export interface ContextView {
  view: ViewName;
  views: ViewCost[];
  tools: JsonObject[];
  search?: { tools: FoundTool[]; unmatched: string[]; total: number; tokens: number };
}
