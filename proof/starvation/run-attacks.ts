import { setTimeout as pause } from 'node:timers/promises';
import type { Attack } from './attack.ts';
import { mcpRequest } from './caller.ts';
import { createArtifact } from './operations.ts';
import { largePicture } from './payloads.ts';

const async = { 'Content-Type': 'application/json', Prefer: 'respond-async' };

const asynchronousRuns = (keyless: boolean): Attack => ({
  queue: 'asynchronous runs (number)',
  payload: 'runs whose third party does not answer',
  width: 16,
  keyless,
  own: ['asynchronous run'],
  untilRefused: true,
  prepare: async (caller) => async () =>
    String((await caller.execute('starved/endless', { q: 'a' }, { headers: async })).status),
});

const runs = (keyless: boolean): Attack => ({
  queue: 'synchronous runs',
  payload: 'runs whose third party does not answer',
  width: 200,
  keyless,
  prepare: async (caller) => async () => String((await caller.execute('starved/endless', { q: 'a' })).status),
});

/** From the largest to the smallest, so that what remains of the characters is used up as well. */
const sizes = [999_000, 250_000, 60_000, 15_000, 4_000, 1_000];

/** Attacks with runs, their inputs and outputs. */
export const runAttacks: readonly Attack[] = [
  asynchronousRuns(false),
  asynchronousRuns(true),
  {
    queue: 'asynchronous runs (characters)',
    payload: 'runs of up to 999,000 characters whose third party does not answer',
    width: 4,
    own: ['asynchronous run'],
    untilRefused: true,
    prepare: async (caller) => {
      let size = 0;
      return async () => {
        const q = 'x'.repeat(sizes[size] ?? 1_000);
        const { status } = await caller.execute('starved/endless', { q }, { headers: async });
        if (status === 429 && size < sizes.length - 1) size += 1;
        return status === 429 && size < sizes.length - 1 ? '2xx smaller' : String(status);
      };
    },
  },
  runs(false),
  runs(true),
  {
    queue: 'synchronous runs',
    payload: 'runs with answers of 9 MiB, which become artifacts',
    width: 24,
    own: ['artifact'],
    prepare: async (caller) => async () => String((await caller.execute('starved/large', {})).status),
  },
  {
    queue: 'handlers',
    payload: 'handlers that compute without an end',
    width: 64,
    own: ['handler run'],
    prepare: async (caller) => async () => String((await caller.execute('starved/compute_endlessly', {})).status),
  },
  {
    queue: 'file inputs',
    payload: 'a file of 8 MB in an input with a pattern',
    width: 7,
    own: ['run with a file'],
    prepare: async (caller) => {
      const file = `file:${await caller.upload('large.png', largePicture(8_000_000), 'document_file')}`;
      return async () => String((await caller.execute('starved/quick', { file })).status);
    },
  },
  {
    queue: 'SVG pictures',
    payload: 'MCP calls whose SVG takes longer than its time limit',
    width: 80,
    own: ['SVG picture'],
    prepare: async (caller) => async () => {
      const call = { name: 'starved__drawings', arguments: {} };
      return String((await caller.ask(mcpRequest('tools/call', call, call.name))).status);
    },
  },
  {
    queue: 'artifacts',
    payload: 'downloads of an artifact of 9 MiB',
    width: 64,
    own: ['artifact'],
    prepare: async (caller) => {
      const path = await createArtifact(caller, 'starved/large');
      return async () => String((await caller.ask({ address: 'plugins', path })).status);
    },
  },
];

const eventStreams = (keyless: boolean): Attack => ({
  queue: 'event streams',
  payload: 'streams of the events of a run that does not end',
  width: 200,
  keyless,
  own: ['event stream'],
  untilRefused: true,
  prepare: async (caller) => {
    const { text } = await caller.execute('starved/endless', {}, { headers: async });
    const path = `/v1/runs/${/"run_id":"([^"]+)"/.exec(text)?.[1]}/events`;
    return async () => String((await caller.ask({ address: 'plugins', path })).status);
  },
});

const subscriptions = (keyless: boolean): Attack => ({
  queue: 'MCP subscriptions',
  payload: '1,500 streams of subscriptions/listen',
  width: 1_500,
  keyless,
  own: ['MCP subscription', 'event stream'],
  prepare: async (caller) => async () => {
    const asked = mcpRequest('subscriptions/listen', { notifications: { toolsListChanged: true } });
    return String((await caller.ask(asked)).status);
  },
});

/** Attacks without a key on the sign-in of the console. */
export const signInAttacks: readonly Attack[] = [
  {
    queue: 'passwords',
    payload: 'sign-ins with a wrong password',
    width: 64,
    keyless: true,
    account: true,
    untilRefused: true,
    prepare: async (caller) => async (index) => {
      const json = { name: 'Ada', password: `a wrong password ${index}` };
      return String((await caller.ask({ method: 'POST', path: '/v1/session', json })).status);
    },
  },
];

/** Attacks with connections that stay open. */
export const streamAttacks: readonly Attack[] = [
  eventStreams(false),
  eventStreams(true),
  subscriptions(false),
  subscriptions(true),
  {
    queue: 'uploads',
    payload: '300 uploads of a byte per second',
    width: 300,
    prepare: async (caller) => async () => {
      const asked = { method: 'POST', path: '/v1/files', body: slowBody() };
      const headers = { 'Content-Type': 'multipart/form-data; boundary=b' };
      return String((await caller.ask({ ...asked, headers })).status);
    },
  },
];

function slowBody(): ReadableStream {
  const part = (name: string, more = '') => `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;
  let next = Buffer.from(`${part('purpose')}record_file\r\n${part('file', '; filename="slow.txt"')}`);
  return new ReadableStream({
    type: 'bytes',
    pull: async (controller) => {
      controller.enqueue(Uint8Array.from(next));
      next = Buffer.from('a');
      await pause(1_000);
    },
  });
}
