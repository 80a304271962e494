import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../support/random.ts';
import { allRuns, checkedFiles, type HostileFile, runsInFiles, structuredFiles } from './document-files.ts';
import type { HoldCase } from './hold-case.ts';
import type { HoldService } from './hold-service.ts';
import type { RawAnswer } from './send-raw.ts';

/** Milliseconds that reading one document may take in the proof. A record that takes longer counts as stuck. */
export const readingLimit = 20_000;
const timeoutMs = readingLimit + 10_000;

/** Sends documents through the upload with its checks, and then through their reader until the record has ended. */
export function documentCases({ slice, random }: { slice: boolean; random: Random }): HoldCase[] {
  const runs = random.shuffle(runsInFiles(allRuns)).slice(0, slice ? 8 : 400);
  const byFormat = Map.groupBy(structuredFiles, ({ extension }) => extension);
  const structures = slice
    ? [...byFormat.values()].flatMap((files) => random.shuffle(files).slice(0, 2))
    : structuredFiles;
  return [...checkedFiles, ...structures, ...runs].map((file) => ({
    target: `reader of ${file.extension}`,
    payload: file.name,
    send: (service) => read(file, service),
  }));
}

async function read(file: HostileFile, service: HoldService): Promise<string> {
  return await withRecord(service, file, async () => undefined);
}

/**
 * Uploads a document and waits for its record. Then calls `use` with the path of the record, and deletes both. Returns
 * the status of the record, or what `use` returns.
 */
export async function withRecord(
  { sender, ids }: HoldService,
  file: HostileFile,
  use: (path: string) => Promise<string | undefined>,
): Promise<string> {
  const isSheet = file.purpose === undefined && (file.extension === 'csv' || file.extension === 'xlsx');
  const uploaded = await uploadFile(sender, file, file.purpose ?? (isSheet ? 'qa_record_file' : 'record_file'));
  const fileId = memberOf(uploaded.text, 'file_id');
  if (fileId === undefined) return `refused: ${uploaded.status}`;
  const records = `/v1/collections/${isSheet ? ids.qa_collection_id : ids.collection_id}/records`;
  const type = isSheet ? 'qa_sheet' : 'file';
  const created = await sender.ask({
    ...{ address: 'files', method: 'POST', path: records },
    body: JSON.stringify({ type, file_id: fileId, ...(isSheet ? {} : { text_splitter: file.splitter ?? splitter }) }),
  });
  const recordId = memberOf(created.text, 'record_id');
  const outcome =
    recordId === undefined ? `no record: ${created.status}` : await settled(sender, `${records}/${recordId}`, use);
  await sender.ask({ address: 'files', method: 'DELETE', path: `/v1/files/${fileId}` });
  return outcome;
}

export async function uploadFile(
  sender: HoldService['sender'],
  { extension, bytes }: Pick<HostileFile, 'bytes'> & { readonly extension: string },
  purpose: string,
): Promise<RawAnswer> {
  const part = (name: string, more = '') => `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;
  const head = `${part('purpose')}${purpose}\r\n${part('file', `; filename="a.${extension}"`)}`;
  return await sender.ask({
    ...{ address: 'files', method: 'POST', path: '/v1/files' },
    headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
    body: Buffer.concat([Buffer.from(head), bytes(), Buffer.from('\r\n--b--\r\n')]),
  });
}

const splitter = { type: 'token', chunk_size: 200, chunk_overlap: 20 };

/**
 * Waits until a record has ended, uses it, and deletes it. Returns its status and error, or what `use` returns.
 */
export async function settled(
  sender: HoldService['sender'],
  path: string,
  use: (path: string) => Promise<string | undefined> = async () => undefined,
): Promise<string> {
  for (const end = performance.now() + timeoutMs; performance.now() < end; ) {
    const { text } = await sender.ask({ address: 'files', method: 'GET', path });
    const status = memberOf(text, 'status', /"status":"(ready|partial|error|cancelled)"/);
    if (status !== undefined) {
      const used = status === 'error' ? undefined : await use(path);
      await sender.ask({ address: 'files', method: 'DELETE', path });
      if (used !== undefined) return used;
      return status === 'error' ? (memberOf(text, 'code') ?? status) : status;
    }
    await pause(25);
  }
  return 'no end';
}

export function memberOf(text: string, name: string, pattern = new RegExp(`"${name}":"([^"]+)"`)): string | undefined {
  return pattern.exec(text)?.[1];
}
