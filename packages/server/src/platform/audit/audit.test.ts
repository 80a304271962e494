import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditEvent } from '@quartermaster/contract';
import type { PreparedRun } from '../../tools/execution/executor.ts';
import { recorded } from '../../tools/execution/record-run.ts';
import { createNewId } from '../identifier.ts';
import { createLogger } from '../log/logger.ts';
import { Problem } from '../problem.ts';
import { createAudit, serviceSource } from './audit.ts';

function open(add: (event: AuditEvent) => Promise<void>) {
  let queries = 0;
  const lines: string[] = [];
  const logger = createLogger('info', { write: (line: string) => void lines.push(line) });
  const counted = async (event: AuditEvent) => {
    queries += 1;
    await add(event);
  };
  const has = async () => {
    queries += 1;
    return false;
  };
  const audit = createAudit({
    repository: { add: counted, has },
    clock: { now: Date.now },
    newId: createNewId(),
    logger,
  });
  return { audit, lines, queries: () => queries };
}

const failing = () => Promise.reject(new Error('the disk is gone'));

/** A run of a plugin with these effects. */
function prepare(effects: string, resumes?: { runId: string; createdAt: number }) {
  let starts = 0;
  const run = {
    runId: 'xrun1',
    bundle: { id: 'vault' },
    plugin: { id: 'erase', manifest: { effects } },
    caller: { projectId: 'p', keyId: 'apik1', origin: 'execute', resumes },
  };
  const start = async () => {
    starts += 1;
  };
  return { prepared: { run, start } as unknown as PreparedRun, starts: () => starts };
}

test('a change whose event cannot be stored is answered with 503, and a refused sign-in is not affected', async () => {
  const { audit } = open(failing);
  await assert.rejects(audit.record(serviceSource, { action: 'key.revoked', id: 'k' }), (error: unknown) => {
    assert.ok(error instanceof Problem);
    return error.status === 503 && error.headers['Retry-After'] === '1';
  });
  audit.recordRefusal(serviceSource, { action: 'sign_in_refused', id: null });
});

test('refused sign-ins are stored at most 20 times a minute, and the last one counts the others', async (t) => {
  t.mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 1_800_000_000_000 });
  const events: AuditEvent[] = [];
  const { audit, lines } = open(async (event) => void events.push(event));
  for (let i = 0; i < 1000; i++)
    audit.recordRefusal(serviceSource, { action: 'sign_in_refused', id: null, details: { reason: 'throttled' } });
  assert.deepEqual([events.length, lines.length], [20, 20]);
  t.mock.timers.tick(60_000);
  assert.deepEqual(events[20]?.details, { reason: 'throttled', left_out: 980 });
  assert.equal(events.length, 21);
});

test('long lists in the details become the number of their items', async () => {
  const events: AuditEvent[] = [];
  const { audit } = open(async (event) => void events.push(event));
  const tools = Array.from({ length: 1000 }, (_, i) => `bundle-${i}`);
  await audit.record(serviceSource, { action: 'key.created', id: 'k', details: { tools, name: 'n' } });
  assert.deepEqual(events[0]?.details, { tools: 1000, name: 'n' });
});

test('a destructive run starts after its event is stored, and other runs cause no query', async () => {
  const broken = prepare('destructive');
  await assert.rejects(recorded(broken.prepared, open(failing).audit)(new Map()), Problem);
  assert.equal(broken.starts(), 0);
  for (const [effects, expected] of [
    ['destructive', 1],
    ['write', 0],
    ['read', 0],
  ] as const) {
    const { audit, queries } = open(async () => {});
    const run = prepare(effects);
    await recorded(run.prepared, audit)(new Map());
    assert.deepEqual([queries(), run.starts()], [expected, 1], effects);
  }
  const resumed = open(async () => {});
  await recorded(prepare('destructive', { runId: 'xrun1', createdAt: 1 }).prepared, resumed.audit)(new Map());
  assert.equal(resumed.queries(), 2, 'a run that continues looks for its event first');
});
