import { textPdf } from '../../test/support/sample-pdf.ts';
import { type Answer, type Caller, mcpRequest } from './caller.ts';
import { largePicture } from './payloads.ts';

/** A project, or a key, that works as usual while another caller saturates a queue. */
export interface Victim {
  readonly name: string;
  readonly caller: Caller;
  readonly ids: VictimIds;
}

interface VictimIds {
  readonly collection: string;
  /** A file of a few words. */
  readonly file: string;
  readonly picture: string;
  /** The path of a record of that file. */
  readonly record: string;
  /** The path of a record of a PDF. */
  readonly pdf: string;
  /** The path of an artifact's content, with its signature. */
  readonly artifact: string;
}

export interface Operation {
  /** The operation may take three times its idle time plus this many milliseconds. */
  readonly allowance: number;
  /** @returns the reason when it failed, otherwise undefined */
  run(victim: Victim, round: number): Promise<string | undefined>;
}

const allowance = 250;
const longAllowance = 1_000;
const tenKilobytes = Buffer.from('Ordinary words of a note. '.repeat(400));

/** The operations that are measured for every queue. */
export const commonOperations = ['upload', 'record', 'question', 'T0 run', 'page picture', 'list'] as const;

export const operations = {
  upload: {
    allowance,
    run: async ({ caller }, round) => {
      await caller.upload(`note-${round}.txt`, Buffer.concat([Buffer.from(`${round} `), tenKilobytes]));
      return undefined;
    },
  },
  record: {
    allowance: longAllowance,
    run: async ({ caller, ids }) => {
      const path = await caller.createRecord(ids.collection, ids.file);
      const status = await caller.settle(path);
      return status === 'ready' ? undefined : status;
    },
  },
  question: {
    allowance,
    // Another text each time, so that nothing comes from a cache.
    run: async ({ caller, ids }) =>
      expect(
        await caller.ask({
          method: 'POST',
          path: `/v1/collections/${ids.collection}/chunks/query`,
          json: { query_text: `ordinary words ${performance.now()}`, top_k: 3 },
        }),
        /"content"/,
      ),
  },
  'question with vectors': {
    allowance,
    // Another text each time, so that no vector comes from a cache.
    run: async ({ caller, ids }) =>
      expect(
        await caller.ask({
          method: 'POST',
          path: `/v1/collections/${ids.collection}/chunks/query`,
          json: { query_text: `ordinary words with vectors ${performance.now()}`, top_k: 3, explain: true },
        }),
        /"vector":\{/,
      ),
  },
  'T0 run': {
    allowance,
    run: async ({ caller }, round) => expect(await caller.execute('starved/quick', { q: `${round}` }), /"quick"/),
  },
  'page picture': {
    allowance: longAllowance,
    run: async ({ caller, ids }, round) => {
      // Another width each time, so that no answer comes from a cache.
      const { status } = await caller.ask({ path: `${ids.pdf}/pages/1/picture?width=${300 + round}` });
      return status === 200 ? undefined : String(status);
    },
  },
  list: {
    allowance,
    run: async ({ caller }) => expect(await caller.ask({ path: '/v1/files?limit=20' }), /"file_id"/),
  },
  'asynchronous run': {
    allowance,
    run: async ({ caller }) => {
      const headers = { 'Content-Type': 'application/json', Prefer: 'respond-async' };
      const { status, text } = await caller.execute('starved/quick', { q: 'x'.repeat(50_000) }, { headers });
      const id = /"run_id":"([^"]+)"/.exec(text)?.[1];
      if (status !== 202 || id === undefined) return String(status);
      return expect(await caller.ask({ address: 'plugins', path: `/v1/runs/${id}/events` }), /succeeded/);
    },
  },
  'dry run': {
    allowance: longAllowance,
    run: async ({ caller, ids }) =>
      expect(
        await caller.ask({
          method: 'POST',
          path: `/v1/collections/${ids.collection}/records?dry_run=true`,
          json: { type: 'file', file_id: ids.file, title: '' },
        }),
        /./,
      ),
  },
  'record text': {
    allowance,
    run: async ({ caller, ids }) => expect(await caller.ask({ path: `${ids.record}/text` }), /ordinary/i),
  },
  'event stream': {
    allowance,
    run: async ({ caller, ids }) => expect(await caller.ask({ path: `${ids.record}/events` }), /ready/),
  },
  'MCP subscription': {
    allowance,
    run: async ({ caller }) => {
      const asked = mcpRequest('subscriptions/listen', { notifications: { toolsListChanged: true } });
      return expect(await caller.ask({ ...asked, untilFirstBytes: true }), /acknowledged/);
    },
  },
  'handler run': {
    allowance: longAllowance,
    run: async ({ caller }) => expect(await caller.execute('starved/compute', {}), /"computed"/),
  },
  'SVG picture': {
    allowance: longAllowance,
    run: async ({ caller }) =>
      expect(await caller.ask(mcpRequest('tools/call', drawing, drawing.name)), /"type":"image"/),
  },
  artifact: {
    allowance,
    run: async ({ caller, ids }) => expect(await caller.ask({ address: 'plugins', path: ids.artifact }), /artifact/),
  },
  'run with a file': {
    allowance,
    run: async ({ caller, ids }) =>
      expect(await caller.execute('starved/quick', { file: `file:${ids.picture}` }), /"quick"/),
  },
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;

const drawing = { name: 'starved__drawing', arguments: {} };

function expect({ status, text }: Answer, pattern: RegExp): string | undefined {
  if (status !== 200) return String(status);
  return pattern.test(text) ? undefined : `200: ${text.slice(0, 100)}`;
}

/** Creates the objects that the operations of a victim name. */
export async function prepareVictim(name: string, caller: Caller): Promise<Victim> {
  const collection = await caller.createCollection();
  const file = await caller.upload('note.txt', Buffer.from('Ordinary words of a note.'));
  const record = await caller.createRecord(collection, file);
  const pages = textPdf([['A page of ordinary words.', 'It has two lines.']]);
  const pdf = await caller.createRecord(collection, await caller.upload('page.pdf', pages));
  for (const path of [record, pdf]) {
    const status = await caller.settle(path);
    if (status !== 'ready') throw new Error(`${path} is ${status}`);
  }
  const picture = await caller.upload('a.png', largePicture(2_000), 'document_file');
  const artifact = await createArtifact(caller, 'starved/artifact');
  return { name, caller, ids: { collection, file, record, pdf, picture, artifact } };
}

/** Runs a plugin whose output becomes an artifact. @returns the path of its content */
export async function createArtifact(caller: Caller, plugin: string): Promise<string> {
  const { text } = await caller.execute(plugin, {});
  const url = /"file_url":"([^"]+)"/.exec(text)?.[1];
  if (url === undefined) throw new Error(`no artifact: ${text.slice(0, 300)}`);
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}
