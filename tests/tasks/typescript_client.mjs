// A client of 2025-11-25 on the TypeScript SDK: begins tasks at one replica, and looks after them at another.
// Arguments: the two URLs and a token. Prints what it has seen, as JSON.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const [here, there, token] = process.argv.slice(2);
const seen = { asked: [] };

async function connected(url) {
  const client = new Client({ name: 'stranger', version: '1' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, async (request) => {
    seen.asked.push({ url, task: request.params._meta['io.modelcontextprotocol/related-task'].taskId });
    return { action: 'accept', content: { name: 'Ada' } };
  });
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  await client.listTools();
  return client;
}

async function begun(client, name) {
  const stream = client.experimental.tasks.callToolStream({ name, arguments: {} }, CallToolResultSchema, { task: { ttl: 60000 } });
  for await (const message of stream) {
    if (message.type === 'taskCreated') return message.task.taskId;
    throw new Error(`no task: ${JSON.stringify(message)}`);
  }
}

const text = (result) => result.content[0].text.trim();
const [owner, other] = [await connected(here), await connected(there)];
const tasks = other.experimental.tasks;

const asks = await begun(owner, 'asks');
seen.asks = { task: asks, result: text(await tasks.getTaskResult(asks, CallToolResultSchema)), status: (await tasks.getTask(asks)).status };

const long = await begun(owner, 'long');
seen.long = { task: long, before: (await tasks.getTask(long)).status, cancelled: (await tasks.cancelTask(long)).status };
seen.long.result = await tasks.getTaskResult(long, CallToolResultSchema).then(text, (error) => error.message);
seen.long.after = (await owner.experimental.tasks.getTask(long)).status;

seen.whole = [];
for await (const message of other.experimental.tasks.callToolStream({ name: 'job', arguments: {} }, CallToolResultSchema, { task: {} })) {
  seen.whole.push(message.type === 'result' ? text(message.result) : message.type);
}
seen.listed = (await tasks.listTasks()).tasks.map((task) => [task.taskId, task.status]);
seen.unknown = await tasks.getTask('x'.repeat(44)).then(() => 'there', (error) => error.code);
console.log(JSON.stringify(seen));
await Promise.all([owner.close(), other.close()]);
