import { setTimeout as pause } from 'node:timers/promises';
import { checkUploads } from './check-files.ts';
import { type CheckOptions, fates, forEachConcurrently, getJson, only } from './check-options.ts';
import { fateOf } from './history.ts';
import { sendRequest } from './send-request.ts';

/** Checks that everything the clients know holds. It reads, and repeats some of the acknowledged requests. */
export async function checkHistory(options: CheckOptions): Promise<void> {
  await checkUploads(options);
  await checkRecords(options);
  await checkRuns(options);
}

async function checkRecords(options: CheckOptions): Promise<void> {
  const { target, operations, findings } = options;
  const deleted = fates(operations, 'delete record', ({ recordId }) => recordId);
  // A file that was deleted before it was read leaves its record in error.
  const deletedFiles = fates(operations, 'delete file', ({ fileId }) => fileId);
  const records = only(operations, 'create record').filter((one) => fateOf(one) === 'done');
  await forEachConcurrently(records, async ({ request, answer }) => {
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
    else if (record.state === 'error' && deletedFiles.has(request.fileId ?? '')) return;
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

/** Waits until the record or run at `url` has ended, up to the longest time that work may take. */
async function ended({ target, workEndsWithin = 120_000 }: CheckOptions, url: string) {
  for (const latest = performance.now() + workEndsWithin; ; ) {
    const { status, body } = await getJson(target, url);
    const data = (body.data ?? {}) as { status?: string }; // records and runs have these members
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
  await forEachConcurrently(started, async ({ answer }) => {
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
  for (const { request, answer } of keyed) {
    const before = upstreamCalls(request.plugin, request.text);
    const again = await sendRequest(target, request);
    const after = upstreamCalls(request.plugin, request.text);
    if (again?.id !== answer?.id || after !== before) {
      findings.add('duplicated', `the run ${request.key} gave ${answer?.id}, and again ${again?.status} ${again?.id}`);
    }
  }
}
