import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../support/random.ts';
import type { Findings } from './findings.ts';
import { fateOf, type Operation, type Request } from './history.ts';
import { sendRequest, type Target } from './send-request.ts';

export interface CheckOptions {
  readonly target: Target;
  readonly operations: readonly Operation[];
  readonly findings: Findings;
  readonly random: Random;
  /** Calls of a plugin that reached the third party, before and after any crash. */
  readonly upstreamCalls: (plugin: 'read' | 'write', text: string) => number;
  /** Contents that are read back whole, besides the last ones; the others are compared by their listed hash. */
  readonly contents?: number;
  /** Milliseconds after which unfinished work counts as stuck: the longest lease and 30 s. */
  readonly workEndsWithin?: number;
  /** Faults may exhaust the tries of a record: then a retry must make it ready. */
  readonly recordsMayFail?: boolean;
}

type Of<What extends Request['what']> = Operation & { readonly request: Extract<Request, { what: What }> };

/** What the clients know must hold. Reads, and repeats some requests that were acknowledged. */
export async function checkHistory(options: CheckOptions): Promise<void> {
  const deletedFiles = fates(options.operations, 'delete file', ({ fileId }) => fileId);
  const files = await listFiles(options.target);
  checkFiles(options, files, deletedFiles);
  await checkContents(options, deletedFiles);
  await checkKeys(options, deletedFiles);
  await checkRecords(options);
  await checkRuns(options);
}

function only<What extends Request['what']>(operations: readonly Operation[], what: What): Of<What>[] {
  return operations.filter((one): one is Of<What> => one.request.what === what);
}

/** By id: whether it was asked to be deleted, and what came of it. */
function fates<What extends Request['what']>(
  operations: readonly Operation[],
  what: What,
  idOf: (request: Of<What>['request']) => string,
): Map<string, ReturnType<typeof fateOf>> {
  const result = new Map<string, ReturnType<typeof fateOf>>();
  for (const one of only(operations, what)) {
    const id = idOf(one.request);
    // A repeated deletion of what is gone is refused with 404: the first answer counts.
    if (result.get(id) !== 'done') result.set(id, fateOf(one));
  }
  return result;
}

interface ListedFile {
  readonly file_id: string;
  readonly file_name: string;
  readonly sha256: string;
}

async function getJson(target: Target, url: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(url, { headers: { Authorization: `Bearer ${target.key}` } });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

async function listFiles(target: Target): Promise<Map<string, ListedFile>> {
  const files = new Map<string, ListedFile>();
  for (let after = ''; ; ) {
    const { status, body } = await getJson(target, `${target.filesUrl}/v1/files?limit=100${after}`);
    if (status !== 200) throw new Error(`the list of files was answered ${status}: ${JSON.stringify(body)}`);
    const page = body as { data: ListedFile[]; has_more: boolean }; // of the contract
    for (const file of page.data) files.set(file.file_id, file);
    if (!page.has_more) return files;
    after = `&after=${page.data.at(-1)?.file_id}`;
  }
}

function checkFiles(
  { operations, findings }: CheckOptions,
  files: Map<string, ListedFile>,
  deleted: Map<string, ReturnType<typeof fateOf>>,
): void {
  const uploads = only(operations, 'upload');
  const hashes = Map.groupBy(uploads, ({ request }) => request.name);
  for (const one of uploads.filter((upload) => fateOf(upload) === 'done')) {
    const id = one.answer?.id ?? '';
    const file = files.get(id);
    const fate = deleted.get(id);
    if (file === undefined && (fate === undefined || fate === 'refused')) {
      findings.add('lost', `${one.request.name} was acknowledged as ${id} and is not listed`);
    }
    if (file !== undefined && fate === 'done') findings.add('resurrected', `${id} was deleted and is listed`);
    if (file !== undefined && file.sha256 !== one.request.content.sha256) {
      findings.add('wrong bytes', `${id} is listed with another hash`);
    }
  }
  for (const { file_id, file_name, sha256 } of files.values()) {
    const sent = hashes.get(file_name) ?? [];
    if (!sent.some(({ request }) => request.content.sha256 === sha256)) {
      findings.add('inconsistent', `${file_id} (${file_name}) is a file that nobody sent`);
    }
  }
}

async function checkContents(
  { target, operations, findings, random, contents = 12 }: CheckOptions,
  deleted: Map<string, ReturnType<typeof fateOf>>,
): Promise<void> {
  const done = only(operations, 'upload').filter((one) => fateOf(one) === 'done');
  const kept = done.filter(({ answer }) => !deleted.has(answer?.id ?? ''));
  const looked = new Set([...kept.slice(-contents), ...random.shuffle(kept).slice(0, contents)]);
  await inTurns([...looked], async ({ request, answer }) => {
    const { sha256 } = request.content;
    const read = await sendRequest(target, { what: 'read file', fileId: answer?.id ?? '', sha256 });
    if (read?.sha256 === undefined) findings.add('lost', `${answer?.id} cannot be read: ${read?.status}`);
    else if (read.sha256 !== sha256) findings.add('wrong bytes', `${answer?.id} has other bytes than were sent`);
  });
  // The natural repair: the same content sent again must be readable.
  for (const { request } of random.shuffle(done).slice(0, 3)) {
    const again = await sendRequest(target, {
      what: 'upload',
      name: `check-${request.name}`,
      content: request.content,
    });
    if (again?.status !== 200) {
      findings.add('wrong error', `the same content again was answered ${again?.status} ${again?.code}`);
      continue;
    }
    const read = await sendRequest(target, { what: 'read file', fileId: again.id ?? '', sha256: '' });
    if (read?.sha256 !== request.content.sha256) findings.add('lost', `${again.id}, sent again, cannot be read`);
    await sendRequest(target, { what: 'delete file', fileId: again.id ?? '' });
  }
}

async function checkKeys(
  { target, operations, findings, random }: CheckOptions,
  deleted: Map<string, ReturnType<typeof fateOf>>,
): Promise<void> {
  const keyed = only(operations, 'upload').filter(({ request }) => request.key !== undefined);
  for (const [key, all] of Map.groupBy(keyed, ({ request }) => request.key)) {
    const ids = new Set(all.filter((one) => fateOf(one) === 'done').map(({ answer }) => answer?.id));
    if (ids.size > 1) findings.add('duplicated', `the key ${key} has the answers ${[...ids].join(' and ')}`);
  }
  const answered = keyed.filter((one) => fateOf(one) === 'done' && !deleted.has(one.answer?.id ?? ''));
  const inDoubt = keyed.filter((one) => fateOf(one) === 'unknown');
  for (const { request, answer } of [...random.shuffle(answered).slice(0, 4), ...answered.slice(-2)]) {
    const again = await sendRequest(target, request);
    if (again?.id !== answer?.id) {
      findings.add('duplicated', `${request.key} gave ${answer?.id}, and again ${again?.status} ${again?.id}`);
    }
    const { content } = request;
    const other = await sendRequest(target, { ...request, content: { ...content, seed: content.seed + 7 } });
    if (other?.status !== 422) findings.add('duplicated', `${request.key} with other content: ${other?.status}`);
  }
  for (const { request } of random.shuffle(inDoubt).slice(0, 4)) {
    const first = await sendRequest(target, request);
    // The claim of the request that was cut may still hold.
    if (first?.status === 409) continue;
    const second = await sendRequest(target, request);
    if (first?.status !== 200 || first.id !== second?.id) {
      findings.add('duplicated', `${request.key}, in doubt: ${first?.status} ${first?.id}, then ${second?.id}`);
    }
  }
}

async function checkRecords(options: CheckOptions): Promise<void> {
  const { target, operations, findings } = options;
  const deleted = fates(operations, 'delete record', ({ recordId }) => recordId);
  const records = only(operations, 'create record').filter((one) => fateOf(one) === 'done');
  const looked = records.slice(-24);
  await inTurns(looked, async ({ request, answer }) => {
    const path = `${target.filesUrl}/v1/collections/${request.collectionId}/records/${answer?.id}`;
    const fate = deleted.get(answer?.id ?? '');
    let record = await ended(options, path);
    if (record.state === 'error' && options.recordsMayFail) {
      await fetch(`${path}/retry`, { method: 'POST', headers: { Authorization: `Bearer ${target.key}` } });
      record = await ended(options, path);
    }
    if (fate === 'done') {
      if (record.status !== 404) findings.add('resurrected', `the record ${answer?.id} was deleted: ${record.status}`);
    } else if (fate === 'unknown' && record.status === 404) return;
    else if (record.status === 404) findings.add('lost', `the record ${answer?.id} was acknowledged and is not there`);
    else if (record.state !== 'ready') {
      findings.add(record.state === 'creating' ? 'stuck' : 'lost', `the record ${answer?.id} is ${record.text}`);
    } else {
      const chunks = await getJson(target, `${path}/chunks?limit=100`);
      if (!JSON.stringify(chunks.body).includes(request.word)) {
        findings.add('lost', `the record ${answer?.id} is ready without ${request.word}`);
      }
    }
  });
}

/** Waits until the record or run at `url` has ended, for as long as work may take. */
async function ended({ target, workEndsWithin = 120_000 }: CheckOptions, url: string) {
  for (const latest = performance.now() + workEndsWithin; ; ) {
    const { status, body } = await getJson(target, url);
    const data = (body.data ?? {}) as { status?: string }; // records and runs have it
    const isOpen =
      status === 200 && (data.status === 'creating' || data.status === 'queued' || data.status === 'running');
    if ((!isOpen && status !== 503) || performance.now() > latest) {
      return { status, state: data.status, text: JSON.stringify(data).slice(0, 300) };
    }
    await pause(50);
  }
}

async function checkRuns(options: CheckOptions): Promise<void> {
  const { target, operations, findings, upstreamCalls } = options;
  const started = only(operations, 'start run').filter((one) => fateOf(one) === 'done');
  await inTurns(started.slice(-16), async ({ answer }) => {
    const run = await ended(options, `${target.pluginsUrl}/v1/runs/${answer?.id}`);
    if (run.status === 404) findings.add('lost', `the run ${answer?.id} was acknowledged and is not there`);
    else if (run.state !== 'ended') findings.add('stuck', `the run ${answer?.id} is ${run.text}`);
  });
  for (const { request } of [...only(operations, 'run'), ...only(operations, 'start run')]) {
    const calls = upstreamCalls(request.plugin, request.text);
    if (request.plugin === 'write' && calls > 1)
      findings.add('duplicated', `${request.text} was written ${calls} times`);
  }
  const keyed = only(operations, 'run').filter((one) => fateOf(one) === 'done' && one.request.key !== undefined);
  for (const { request, answer } of keyed.slice(-3)) {
    const before = upstreamCalls(request.plugin, request.text);
    const again = await sendRequest(target, request);
    const after = upstreamCalls(request.plugin, request.text);
    if (again?.id !== answer?.id || after !== before) {
      findings.add('duplicated', `the run ${request.key} gave ${answer?.id}, and again ${again?.status} ${again?.id}`);
    }
  }
}

async function inTurns<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const next = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await act(item);
  };
  await Promise.all([next(), next(), next(), next()]);
}
