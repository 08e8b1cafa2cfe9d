// A server of 2025-11-25 with tasks, on the TypeScript SDK: its tool runs as a task only.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { InMemoryTaskStore, InMemoryTaskMessageQueue } from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import { z } from 'zod';
const taskStore = new InMemoryTaskStore();
const server = new McpServer({ name: 'ts', version: '1' }, { capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }, taskStore, taskMessageQueue: new InMemoryTaskMessageQueue() });
server.experimental.tasks.registerToolTask('slow', { description: 'slow', inputSchema: { ms: z.number().optional(), ask: z.boolean().optional() }, execution: { taskSupport: 'required' } }, {
  async createTask({ ms = 300, ask = false }, extra) {
    const task = await extra.taskStore.createTask({ ttl: 60000, pollInterval: 100 });
    (async () => {
      let name = 'nobody';
      try {
        await extra.taskStore.updateTaskStatus(task.taskId, 'working', 'half way');
        await new Promise(r => setTimeout(r, ms));
        if (ask) {
          await extra.taskStore.updateTaskStatus(task.taskId, 'input_required');
          const { ElicitResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
          const a = await extra.sendRequest({ method: 'elicitation/create', params: { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } } }, ElicitResultSchema, { relatedTask: { taskId: task.taskId } });
          name = a.content?.name ?? a.action;
        }
        await extra.taskStore.storeTaskResult(task.taskId, 'completed', { content: [{ type: 'text', text: `done for ${name}` }] });
      } catch (e) { await extra.taskStore.storeTaskResult(task.taskId, 'failed', { content: [{ type: 'text', text: String(e) }], isError: true }); }
    })();
    return { task };
  },
  async getTask(_a, extra) { return await extra.taskStore.getTask(extra.taskId); },
  async getTaskResult(_a, extra) { return await extra.taskStore.getTaskResult(extra.taskId); },
});
await server.connect(new StdioServerTransport());
