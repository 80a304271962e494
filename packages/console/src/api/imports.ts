import type { ApiError } from '@quartermaster/client/api';
import { type Collection, type Purpose, purposes } from '@quartermaster/contract';
import { useSyncExternalStore } from 'react';
import { currentProject, filesApiOf, isSessionOver } from './addresses.ts';
import { hashFile } from './hash-file.ts';
import { sendFile } from './send-file.ts';
import { endSession, untilSignedIn } from './session-gate.ts';
import { warnBeforeLeaving } from './warn-before-leaving.ts';

/** `refused`: the file cannot be imported, and another attempt would not change that. */
export type ImportState = 'waiting' | 'checking' | 'sending' | 'creating' | 'done' | 'duplicate' | 'failed' | 'refused';

/** A file that becomes a record of a collection. */
export interface Import {
  readonly id: number;
  readonly collectionId: string;
  readonly path: string;
  readonly bytes: number;
  readonly state: ImportState;
  readonly sent: number;
  /** Why it is `refused` or `failed`. */
  readonly reason: string | ApiError | 'connection' | null;
  /** The record that was created, or the one with the same content. */
  readonly recordId: string | null;
}

export interface NewImport {
  readonly file: File;
  readonly path: string;
  readonly purpose: Purpose;
}

interface Job extends NewImport {
  readonly collection: Collection;
  readonly projectId: string;
  /** Whether to import it although the collection has its content. */
  isWanted: boolean;
}

const atOnce = 3;
let imports: readonly Import[] = [];
const jobs = new Map<number, Job>();
const listeners = new Set<() => void>();
/** The contents that this tab is importing, so that of two equal files in one folder one is imported. */
const contents = new Map<string, number>();
let lastId = 0;
let running = 0;
warnBeforeLeaving(() => !imports.every(isImported));

function publish(next: readonly Import[]): void {
  imports = next;
  for (const listener of listeners) listener();
}

function change(id: number, part: Partial<Import>): void {
  publish(imports.map((one) => (one.id === id ? { ...one, ...part } : one)));
}

/** The imports of this tab, in the order in which they were added. They continue while other pages are open. */
export function useImports(): readonly Import[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => imports,
  );
}

/** Adds files that are imported, and files that are refused, with their reasons. */
export function addImports(
  collection: Collection,
  files: readonly NewImport[],
  refused: ReadonlyArray<{ readonly path: string; readonly bytes: number; readonly reason: string }> = [],
): void {
  const { collection_id: collectionId } = collection;
  const fresh = { collectionId, sent: 0, recordId: null };
  const added = files.map((file): Import => {
    const id = ++lastId;
    jobs.set(id, { ...file, collection, projectId: currentProject(), isWanted: false });
    return { ...fresh, id, path: file.path, bytes: file.file.size, state: 'waiting', reason: null };
  });
  const others = refused.map((one): Import => ({ ...fresh, ...one, id: ++lastId, state: 'refused' }));
  publish([...imports, ...added, ...others]);
  startNext();
}

/** Imports a file again after a failure, or a file whose content the collection has already. */
export function retryImport(id: number): void {
  const job = jobs.get(id);
  if (job === undefined) return;
  job.isWanted ||= imports.some((one) => one.id === id && one.state === 'duplicate');
  change(id, { state: 'waiting', sent: 0, reason: null });
  startNext();
}

export function retryImports(all: readonly Import[]): void {
  for (const { id } of all) retryImport(id);
}

/** Removes those of a collection that have ended. */
export function clearImports(collectionId: string): void {
  const cleared = imports.filter((one) => one.collectionId === collectionId && isImported(one));
  for (const { id } of cleared) jobs.delete(id);
  publish(imports.filter((one) => !cleared.includes(one)));
}

const ended: ReadonlySet<ImportState> = new Set(['done', 'duplicate', 'failed', 'refused']);

export function isImported({ state }: Import): boolean {
  return ended.has(state);
}

function startNext(): void {
  const waiting = imports.filter(({ state }) => state === 'waiting');
  for (const { id } of waiting.slice(0, Math.max(0, atOnce - running))) {
    const job = jobs.get(id);
    if (job === undefined) continue;
    running += 1;
    change(id, { state: 'checking' });
    void run(id, job).finally(() => {
      forget(id);
      running -= 1;
      startNext();
    });
  }
}

async function run(id: number, job: Job): Promise<void> {
  try {
    const known = await hashFile(job.file);
    const duplicate = known === null ? null : await findDuplicate(id, job, known);
    if (duplicate !== null) return change(id, duplicate);
    const stored = known === null ? undefined : await findStored(job, known);
    const fileId = stored ?? (await upload(id, job));
    change(id, { state: 'creating', sent: job.file.size });
    const uploadedTwice = known === null ? await removeDuplicate(id, job, fileId) : null;
    if (uploadedTwice !== null) return change(id, uploadedTwice);
    change(id, { state: 'done', recordId: await createRecord(job, fileId) });
  } catch (error) {
    change(id, { state: 'failed', sent: 0, reason: error as Import['reason'] }); // of the calls above
  }
}

/** Returns the end of an import whose content the collection has, or another import of this tab is adding. */
async function findDuplicate(id: number, job: Job, sha256: string): Promise<Partial<Import> | null> {
  if (job.isWanted) return null;
  const key = `${job.collection.collection_id} ${sha256}`;
  const other = contents.get(key);
  if (other === undefined || other === id) contents.set(key, id);
  const recordId = await findRecord(job, sha256);
  if (recordId === null && (other === undefined || other === id)) return null;
  return { state: 'duplicate', sent: job.file.size, recordId };
}

/** From now on, the record in the collection tells that its content is there. */
function forget(id: number): void {
  for (const [key, owner] of contents) if (owner === id) contents.delete(key);
}

async function findRecord({ collection, projectId }: Job, sha256: string): Promise<string | null> {
  const path = { collection_id: collection.collection_id };
  const query = { sha256, limit: 1 };
  const found = await filesApiOf(projectId).data('GET /v1/collections/{collection_id}/records', { path, query });
  return found[0]?.record_id ?? null;
}

/** Returns a stored file with this content, name and purpose, which needs no upload. */
async function findStored({ file, purpose, projectId }: Job, sha256: string): Promise<string | undefined> {
  const query = { sha256, purpose, limit: 100 };
  const found = await filesApiOf(projectId).data('GET /v1/files', { query });
  return found.find((one) => one.file_name === file.name)?.file_id;
}

/** Without a hash of its own, the console learns the content from the stored file, and deletes a duplicate. */
async function removeDuplicate(id: number, job: Job, fileId: string): Promise<Partial<Import> | null> {
  const path = { file_id: fileId };
  const { sha256 } = await filesApiOf(job.projectId).data('GET /v1/files/{file_id}', { path });
  const duplicate = await findDuplicate(id, job, sha256);
  if (duplicate !== null) await filesApiOf(job.projectId).json('DELETE /v1/files/{file_id}', { path });
  return duplicate;
}

async function upload(id: number, job: Job): Promise<string> {
  for (;;) {
    await untilSignedIn();
    change(id, { state: 'sending', sent: 0 });
    const sent = Promise.withResolvers<string>();
    sendFile(job, {
      onProgress: (bytes) => change(id, { sent: bytes }),
      onSent: () => change(id, { sent: job.file.size }),
      onStored: sent.resolve,
      onFailed: sent.reject,
    });
    try {
      return await sent.promise;
    } catch (error) {
      if (!isSessionOver(error)) throw error;
      endSession();
    }
  }
}

async function createRecord({ collection, projectId, file, purpose }: Job, fileId: string): Promise<string> {
  const path = { collection_id: collection.collection_id };
  const type = purposes[purpose].recordType;
  const body = { type, file_id: fileId };
  const created = await filesApiOf(projectId).data('POST /v1/collections/{collection_id}/records', { path, body });
  if (!('record_id' in created)) throw new Error(file.name);
  return created.record_id;
}
