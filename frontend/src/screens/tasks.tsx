/** Tasks: calls that go on when their request is answered. What runs, how far it is, how it ended. */
import { useEffect, useState } from "preact/hooks";
import { get, send } from "../api";
import { duration } from "../format";
import { href, type Route } from "../router";
import { useRemote } from "../store";
import type { Json } from "../types";
import { Badge } from "../ui/controls";
import { Empty, Failure, Loading } from "../ui/states";
import { Text } from "../ui/text";
import { ValueView } from "../ui/value";
import "./tasks.css";

interface TaskLine {
  id: string;
  caller: string;
  tool: string;
  status: keyof typeof TONES;
  message: string;
  progress: [number, number | null] | null;
  created: number;
  updated: number;
}

interface TaskDetail extends TaskLine {
  log: string[];
  questions: Record<string, Json>;
  result: Json;
  error: Json;
}

const TONES = {
  working: "accent",
  input_required: "warn",
  completed: "good",
  failed: "bad",
  cancelled: "plain",
} as const;
const LOOK_EVERY = 1000;

const isOver = (task: TaskLine): boolean =>
  task.status !== "working" && task.status !== "input_required";

export function Tasks({ route }: { route: Route }) {
  const id = route.parts[0];
  return <div class="screen">{id ? <TaskScreen key={id} id={id} /> : <TaskList />}</div>;
}

/** Asked for again while it may change: tasks go on whether anybody calls or not. */
function useFresh<T>(path: string, settled: (data: T) => boolean) {
  const state = useRemote<T>((signal) => get(path, signal), [path]);
  const over = state.data !== undefined && settled(state.data);
  useEffect(() => {
    if (over) return;
    const again = setInterval(state.reload, LOOK_EVERY);
    return () => clearInterval(again);
  }, [over, path]);
  return state;
}

function TaskList() {
  const state = useFresh<{ tasks: TaskLine[] }>("tasks", () => false);
  if (!state.data)
    return state.error ? <Failure error={state.error} retry={state.reload} /> : <Loading />;
  const tasks = state.data.tasks;
  return (
    <>
      <h1>Tasks</h1>
      {tasks.length ? (
        <ul class="tasks" aria-label="Tasks">
          {tasks.map((task) => (
            <li key={task.id}>
              <a class="task-line" href={href("tasks", [task.id])}>
                <Badge tone={TONES[task.status]}>{task.status.replace("_", " ")}</Badge>
                <b>
                  <Text of={task.tool} />
                </b>
                <Progress task={task} />
                <span class="quiet task-age">{age(task)}</span>
              </a>
            </li>
          ))}
        </ul>
      ) : (
        <Empty icon="play" title="No tasks">
          A tool whose metadata says taskSupport runs as a task for clients that know tasks.
        </Empty>
      )}
    </>
  );
}

function TaskScreen({ id }: { id: string }) {
  const path = `tasks/${encodeURIComponent(id)}`;
  const state = useFresh<TaskDetail>(path, isOver);
  const [failed, setFailed] = useState<Error | null>(null);
  const cancel = async () => {
    setFailed(null);
    await send("DELETE", path).catch(setFailed);
    state.reload();
  };
  if (!state.data)
    return state.error ? <Failure error={state.error} retry={state.reload} /> : <Loading />;
  const task = state.data;
  return (
    <>
      <p>
        <a href={href("tasks")}>All tasks</a>
      </p>
      <h1>
        <Text of={task.tool} />{" "}
        <Badge tone={TONES[task.status]}>{task.status.replace("_", " ")}</Badge>
      </h1>
      <p class="hint">
        of <Text of={task.caller} />, begun {age(task)} ago, <code>{task.id}</code>
      </p>
      <Progress task={task} />
      {!isOver(task) && (
        <button type="button" class="button" onClick={() => void cancel()}>
          Cancel the task
        </button>
      )}
      {failed && (
        <p class="banner bad" role="alert">
          <Text of={failed.message} />
        </p>
      )}
      <Part title="It asks" of={Object.keys(task.questions).length ? task.questions : null} />
      {task.log.length > 0 && (
        <section aria-label="Log">
          <h2>Log</h2>
          <pre class="task-log">
            <Text of={task.log.join("\n")} />
          </pre>
        </section>
      )}
      <Part title="Result" of={task.result} />
      <Part title="Error" of={task.error} />
    </>
  );
}

function Part({ title, of }: { title: string; of: Json }) {
  if (of === null) return null;
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ValueView value={of} />
    </section>
  );
}

function Progress({ task }: { task: TaskLine }) {
  const [done, total] = task.progress ?? [0, null];
  return (
    <span class="task-progress">
      {!isOver(task) && total ? <progress value={done} max={total} /> : null}
      <span class="quiet">
        <Text of={task.message} />
      </span>
    </span>
  );
}

const age = (task: TaskLine): string => duration((Date.now() - task.created) / 1000);
