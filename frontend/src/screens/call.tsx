/** One recorded call: who asked what, the two hops with their times, what was said meanwhile. */
import { get } from "../api";
import { clock, ms, tokens } from "../format";
import { compact } from "../json";
import { href } from "../router";
import { useRemote } from "../store";
import { isObject, type TrafficCall } from "../types";
import { Badge, Fold } from "../ui/controls";
import { ResultView } from "../ui/content";
import { Icon } from "../ui/icon";
import { Shown } from "../ui/states";
import { Text } from "../ui/text";
import { ValueView } from "../ui/value";
import "./call.css";

export function CallScreen({ number }: { number: string }) {
  const call = useRemote<TrafficCall>((signal) => get(`traffic/${number}`, signal), [number]);
  return (
    <section class="call" aria-label={`Call ${number}`}>
      <div class="call-top">
        <h2>Call {number}</h2>
        <a class="icon-button" href={href("traffic")} aria-label="Close" title="Close">
          <Icon name="close" />
        </a>
      </div>
      <Shown of={call} retry={call.reload} lines={8}>
        {(data) => <Body call={data} />}
      </Shown>
    </section>
  );
}

const TONES = { ok: "good", error: "bad", running: "plain", cancelled: "warn" } as const;

function Body({ call }: { call: TrafficCall }) {
  return (
    <>
      <dl class="facts">
        <dt>Call</dt>
        <dd>
          {call.method}{" "}
          {call.method === "tools/call" ? (
            <a href={href("explore", ["tools", call.name])}>
              <Text of={call.name} />
            </a>
          ) : (
            <Text of={call.name} />
          )}
        </dd>
        <dt>Outcome</dt>
        <dd>
          <Badge tone={TONES[call.outcome]}>{call.outcome}</Badge>
        </dd>
        <dt>Client</dt>
        <dd>
          <Text of={`${call.client || "unnamed"} as ${call.caller}, MCP ${call.revision}`} />
        </dd>
        <dt>When</dt>
        <dd>
          {clock(call.at)}, {call.outcome === "running" ? "for" : "took"} {ms(call.ms)}
        </dd>
        <dt>Size</dt>
        <dd>
          {tokens(call.tokens.in)} tokens in, {tokens(call.tokens.out)} out
        </dd>
      </dl>
      <Timeline call={call} />
      {call.error && (
        <div class="banner bad">
          {call.error.code !== undefined && <Badge tone="bad">{call.error.code}</Badge>}{" "}
          <Text of={call.error.message} />
        </div>
      )}
      <Fold title="Hop 1: client to toolyard" open>
        {() => (
          <>
            <ValueView value={call.params} title="Asked" />
            {isObject(call.result) ? (
              <ResultView result={call.result} fault={call.fault} />
            ) : (
              call.result !== null && <ValueView value={call.result} title="Answered" />
            )}
          </>
        )}
      </Fold>
      {call.hops.map((hop, index) => (
        <Fold
          key={index}
          title={<Text of={`Hop 2: toolyard to ${hop.to === "project" ? "the script" : hop.to}`} />}
          aside={ms(hop.ms)}
        >
          {() => (
            <>
              <ValueView value={hop.arguments} title="Sent" />
              {hop.error && (
                <p class={`banner ${call.outcome === "cancelled" ? "warn" : "bad"}`}>
                  <Text of={hop.error} />
                </p>
              )}
              {hop.result !== null && <ValueView value={hop.result} title="Returned" />}
            </>
          )}
        </Fold>
      ))}
      {call.messages.length > 0 && (
        <Fold title={`Meanwhile (${call.messages.length})`} open>
          {() => (
            <ol class="logs">
              {call.messages.map((message, index) => (
                <li key={index} class="log">
                  <span class="quiet">{ms(message.at)}</span>
                  <span class="level">{message.kind}</span>
                  <span class="said">
                    <Text of={compact(message.data)} />
                  </span>
                </li>
              ))}
            </ol>
          )}
        </Fold>
      )}
    </>
  );
}

/** The whole call, and within it the time that the work itself took. */
function Timeline({ call }: { call: TrafficCall }) {
  const whole = Math.max(call.ms, 0.001);
  const at = (value: number) => `${Math.min(100, (value / whole) * 100)}%`;
  return (
    <div class="timeline" aria-label="Timing" role="img">
      <div class="span whole">
        <span>toolyard, {ms(call.ms)} in all</span>
      </div>
      {call.hops.map((hop, index) => (
        <div class="lane" key={index}>
          <div
            class="span hop"
            style={{
              marginLeft: at(hop.at),
              width: at(Math.max(hop.ms ?? whole - hop.at, whole / 200)),
            }}
          />
          <span class="quiet">
            <Text of={hop.to === "project" ? "script" : hop.to} /> {ms(hop.ms)}
          </span>
        </div>
      ))}
    </div>
  );
}
