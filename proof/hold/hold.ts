import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endedRun, settledRecord } from '../../test/support/client.ts';
import type { StartedService } from '../../test/support/service.ts';
import type { PartOptions, PartReport } from '../report.ts';
import { documentCases, readingLimit } from './document-cases.ts';
import { headerCases } from './header-cases.ts';
import type { Cost, HoldCase } from './hold-case.ts';
import { holdPart } from './hold-page.ts';
import { type Measured, startMeasured } from './hold-service.ts';
import { openHoldUpstream } from './hold-upstream.ts';
import { createJudge } from './judge.ts';
import { mcpCases } from './mcp-cases.ts';
import { multipartCases } from './multipart-cases.ts';
import { operationCases } from './operation-cases.ts';
import { pluginCases } from './plugin-cases.ts';
import { storedCases } from './stored-cases.ts';

/**
 * Sends payloads of at most 1 MiB, built to amplify, to every operation, to multipart, MCP and every reader of
 * documents. The service measures its own event loop and memory for each of them. A payload above a limit, or above half
 * of the limit of the delay, is sent up to five times, and its smallest cost counts. Work that the payload causes repeats; other work on the machine does not.
 */
export async function hold(options: PartOptions): Promise<PartReport> {
  const { slice, findings, log } = options;
  const random = options.random.fork('hold');
  const place = join(options.work, 'hold');
  mkdirSync(place, { recursive: true });
  const upstream = await openHoldUpstream(place);
  const settings = { ...upstream.settings, EXTRACTION_SECONDS: String(readingLimit / 1_000), LOG_LEVEL: 'error' };
  const start = () => startMeasured({ place, settings, prepare });
  let service = await start();
  const judge = createJudge();
  try {
    const { operations, cases: ofOperations } = await operationCases(service, { slice, random });
    const cases = [
      ...multipartCases({ slice, random }),
      ...(await pluginCases(service, { slice, random, upstream })),
      ...mcpCases({ slice, random }),
      ...headerCases({ slice, random }),
      ...ofOperations,
      ...documentCases({ slice, random }),
      ...storedCases({ slice, random, upstream }),
    ].filter(({ target, payload }) => new RegExp(options.match).test(`${target}: ${payload}`));
    for (const [index, payload] of cases.entries()) {
      if (index % 500 === 0) log(`hold: ${index} of ${cases.length} payloads`);
      upstream.answer('application/json', '{}');
      service = await judgeCase(payload, service, { start, judge, log });
    }
    judge.report(findings);
    return {
      name: holdPart,
      cases: cases.length,
      figures: { operations, payloads: cases.length, ...judge.figures() },
    };
  } finally {
    await service.end();
    await upstream.close();
  }
}

const mostTries = 5;

interface Judging {
  readonly start: () => Promise<Measured>;
  readonly judge: ReturnType<typeof createJudge>;
  readonly log: PartOptions['log'];
}

async function judgeCase(payload: HoldCase, first: Measured, { start, judge, log }: Judging): Promise<Measured> {
  let service = first;
  const costs: Cost[] = [];
  for (let count = 0; count < mostTries; count++) {
    const cost = await service.measure(payload).catch((error): Cost => gone(error));
    costs.push(cost);
    const isHeld = cost.outcome === 'no answer' || cost.outcome === ended;
    // A process that is held, or has not released its memory, gives no figures for the next payload.
    if (isHeld || (await service.isSwollen())) service = await replace(service, start);
    if (judge.isEnough(payload, cost) || (isHeld && count > 0)) break;
  }
  for (const excess of judge.add(payload, costs)) log(`hold: ${payload.target}: ${payload.payload}: ${excess}`);
  return service;
}

const ended = 'the service ended';

function gone(error: unknown): Cost {
  const outcome = error instanceof Error && error.message.includes('ended') ? ended : 'no answer';
  const endless = Number.POSITIVE_INFINITY;
  return { outcome, delay: endless, delayProcessor: 0, processor: 0, memory: 0, answer: endless };
}

async function replace(service: Measured, start: () => Promise<Measured>): Promise<Measured> {
  await service.end();
  return await start();
}

/**
 * Creates one object of each kind and uses each part of the service once, because the first use loads programs and
 * tables.
 */
async function prepare({ client, folder, filesUrl, pluginsUrl, key }: StartedService): Promise<Record<string, string>> {
  const content = new Blob(['A first document. '.repeat(20)]);
  const { file_id } = await client.files.upload(content, { purpose: 'record_file', name: 'a.txt' });
  const { collection_id } = await client.collections.create({ name: 'a', capacity: 1_000_000 });
  const qa = await client.collections.create({ name: 'b', type: 'qa', capacity: 1_000_000 });
  const record = await client.records.create(collection_id, { type: 'file', file_id, title: 'a' });
  await settledRecord(client, collection_id, record.record_id);
  await importPairs(client, qa.collection_id);
  const [chunk] = (await client.records.chunks(collection_id, record.record_id)).data;
  const { run_id } = await client.plugins.start('hold/read', { q: 'a' }, { credentials: { KEY: 'abcd1234' } });
  await endedRun(client, run_id);
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const projects = await fetch(`${filesUrl}/v1/projects`, { headers });
  const { data } = (await projects.json()) as { data: Array<{ project_id: string }> };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const accept = { ...headers, Accept: 'application/json, text/event-stream' };
  await (await fetch(`${pluginsUrl}/mcp`, { method: 'POST', headers: accept, body })).arrayBuffer();
  const link = await readFile(join(folder, 'setup-link'), 'utf8').catch(() => '');
  return {
    file_id,
    collection_id,
    qa_collection_id: qa.collection_id,
    record_id: record.record_id,
    chunk_id: chunk?.chunk_id ?? '',
    run_id,
    project_id: data[0]?.project_id ?? '',
    bundle_id: 'calculator',
    plugin_id: 'evaluate',
    token: /#([^\s]+)/.exec(link)?.[1] ?? '',
  };
}

/** Imports enough pairs for merges of the index, which run in a thread of their own. */
async function importPairs(client: StartedService['client'], collectionId: string): Promise<void> {
  const rows = Array.from({ length: 20_000 }, (_, row) => `question ${row},answer ${row}\n`);
  const sheet = new Blob([`question,answer\n${rows.join('')}`]);
  const { file_id } = await client.files.upload(sheet, { purpose: 'qa_record_file', name: 'pairs.csv' });
  const record = await client.records.create(collectionId, { type: 'qa_sheet', file_id, title: 'pairs' });
  await settledRecord(client, collectionId, record.record_id);
}
