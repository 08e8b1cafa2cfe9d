// The suite's fixtures for tasks, as core tasks of 2025-11-25 on the TypeScript SDK.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { InMemoryTaskStore, InMemoryTaskMessageQueue } from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import { ElicitResultSchema, McpError } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

// The store has results alone: what ends with a JSON-RPC error is told by its result.
class Store extends InMemoryTaskStore {
  async getTaskResult(taskId, sessionId) {
    const result = await super.getTaskResult(taskId, sessionId);
    if (result._meta?.broken) throw new McpError(-32603, 'The job broke the protocol on purpose');
    return result;
  }
}

const taskStore = new Store();
const capabilities = { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };
const server = new McpServer({ name: 'fixtures', version: '1' }, { capabilities, taskStore, taskMessageQueue: new InMemoryTaskMessageQueue() });
const said = (text, isError = false) => ({ content: [{ type: 'text', text }], isError });
const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));

server.registerTool('greet', { inputSchema: { name: z.string() } }, async ({ name }) => said(`Hello, ${name}!`));

// `work` gets the arguments and a way to ask; what it returns is the task's result.
function task(name, taskSupport, inputSchema, work) {
  server.experimental.tasks.registerToolTask(name, { inputSchema, execution: { taskSupport } }, {
    async createTask(args, extra) {
      const { taskId } = await extra.taskStore.createTask({ ttl: 60000, pollInterval: 50 });
      let open = 0;
      const ask = async (message, field) => {
        if (open++ === 0) await extra.taskStore.updateTaskStatus(taskId, 'input_required');
        const requestedSchema = { type: 'object', properties: { [field]: { type: field === 'confirm' ? 'boolean' : 'string' } } };
        const params = { mode: 'form', message, requestedSchema };
        const answer = await extra.sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema, { relatedTask: { taskId } });
        if (--open === 0) await extra.taskStore.updateTaskStatus(taskId, 'working');
        return answer.content?.[field];
      };
      const end = async (status, result) => {
        // A task that was cancelled meanwhile takes no result.
        await extra.taskStore.storeTaskResult(taskId, status, result).catch(() => {});
      };
      work(args, ask).then((result) => end(result.isError ? 'failed' : 'completed', result), (error) => end('failed', said(String(error), true)));
      return { task: await extra.taskStore.getTask(taskId) };
    },
    getTask: (_args, extra) => extra.taskStore.getTask(extra.taskId),
    getTaskResult: (_args, extra) => extra.taskStore.getTaskResult(extra.taskId),
  });
}

const computing = { seconds: z.number().optional(), label: z.string().optional() };
task('slow_compute', 'optional', computing, async ({ seconds = 0, label = 'it' }) => {
  await pause(seconds);
  return said(`${label} is computed`);
});
task('failing_job', 'required', {}, async () => {
  await pause(1);
  return said('The job has failed, as it always does', true);
});
task('protocol_error_job', 'required', {}, async () => ({ ...said('', true), _meta: { broken: true } }));
task('confirm_delete', 'required', { filename: z.string() }, async ({ filename }, ask) => {
  return said(`${filename} is ${(await ask(`Delete ${filename}?`, 'confirm')) ? 'deleted' : 'kept'}`);
});
task('multi_input', 'required', {}, async (_args, ask) => {
  return said((await Promise.all([ask('The first name?', 'name'), ask('The second name?', 'name')])).join(' and '));
});
await server.connect(new StdioServerTransport());
