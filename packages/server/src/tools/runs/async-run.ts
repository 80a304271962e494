import type { PluginCall } from '@quartermaster/contract';
import { parseExactJson } from '../../platform/json/exact-json.ts';
import { projectText } from '../../platform/project-text.ts';
import type { Executor, PreparedRun } from '../execution/executor.ts';
import type { InputFiles } from '../execution/file-inputs/file-inputs.ts';
import type { RunCaller } from '../execution/run.ts';
import { underWay } from './run-outcome.ts';
import type { RunKey, RunLease, StoredRequest, StoredRun } from './run-repository.ts';

/** `cancelled`: a client requested it; `stopping`: the service stops; `lost`: another process has claimed the run. */
export type StopReason = 'cancelled' | 'stopping' | 'lost';

/** An asynchronous run of this process, from its acceptance until its end is stored. */
export interface AsyncRun {
  readonly stored: StoredRun;
  /** null when the caller has no API key. */
  readonly keyId: string | null;
  /** The number of characters of the request and its files, which stay in memory. */
  size: number;
  files: InputFiles;
  readonly done: PromiseWithResolvers<void>;
  readonly controller: AbortController;
  /** Prepares a further attempt. Throws a Problem when the run can no longer begin. */
  readonly prepare: () => PreparedRun;
  prepared: PreparedRun;
  /** Its request is stored: another process can execute it. */
  isStored: boolean;
  /** Its row names this process as the owner, unless another process has taken it since. */
  isHeld: boolean;
  /** The plugin may have been executed. */
  hasBegun: boolean;
  /** Why its controller was aborted; the first reason counts. */
  stopReason: StopReason | null;
}

export interface AsyncRunOptions extends Pick<RunCaller, 'sender'> {
  /** The request with its credentials. */
  readonly request: PluginCall;
  readonly projectId: string | null;
  readonly keyId: string | null;
  readonly lease: RunLease;
  /** Set when the run was accepted earlier. */
  readonly resumes?: { readonly runId: string; readonly createdAt: number };
}

/** Performs all checks that are possible before the run begins. Throws a Problem when it cannot begin. */
export function prepareAsyncRun(
  executor: Pick<Executor, 'prepare'>,
  { request, projectId, keyId, sender, lease, resumes }: AsyncRunOptions,
  cancel: (run: AsyncRun) => void,
): AsyncRun {
  const controller = new AbortController();
  const caller = {
    projectId,
    keyId,
    sender,
    origin: 'execute',
    keepsOwnRecord: true,
    cancel: () => cancel(run),
  } as const;
  const prepare = (same: AsyncRunOptions['resumes']) =>
    executor.prepare(request, controller.signal, { ...caller, resumes: same });
  const prepared = prepare(resumes);
  const stored = underWay(prepared.run, lease);
  const run: AsyncRun = {
    stored,
    keyId,
    size: JSON.stringify(request).length,
    files: new Map(),
    done: Promise.withResolvers<void>(),
    controller,
    prepare: () => prepare({ runId: stored.id, createdAt: stored.createdAt }),
    prepared,
    isStored: false,
    isHeld: false,
    hasBegun: false,
    stopReason: null,
  };
  return run;
}

/** Adds the files that the input names. Call it before the queue counts the run. */
export function addFiles(run: AsyncRun, files: InputFiles): void {
  run.files = files;
  for (const text of files.values()) run.size += text.length;
}

/** Whether another process may execute the run after this one stops. */
export function isRequeueable({ isStored, hasBegun, prepared }: AsyncRun): boolean {
  return isStored && (!hasBegun || prepared.isRepeatable);
}

/** Encrypts texts with the operator's keys (ADR 0029). */
export interface RequestEncrypter {
  encrypt(plain: string, place: readonly string[]): { readonly text: string };
  /** @returns null when none of the keys decrypts it */
  decrypt(encrypted: string, place: readonly string[]): string | null;
}

/**
 * Returns the part of a request that is stored until its run has ended. With an encryption key the whole request is encrypted.
 * Without one a request with credentials is not stored at all, because its input may repeat them.
 */
export function toStoredRequest(
  { bundle_id, plugin_id, input_params, credentials }: PluginCall,
  key: RunKey,
  { encrypter, isRepeatable }: { encrypter: RequestEncrypter | null; isRepeatable: boolean },
): StoredRequest {
  // Leaves out unknown members that the client sent.
  const text = JSON.stringify({ bundle_id, plugin_id, input_params, credentials });
  if (encrypter !== null) return { text: encrypter.encrypt(text, placeOf(key)).text, isEncrypted: true, isRepeatable };
  const hasCredentials = Object.keys(credentials).length > 0;
  return { text: hasCredentials ? null : text, isEncrypted: false, isRepeatable };
}

/** @returns null when the request was not stored, or was encrypted with a key that this process does not have */
export function readStoredRequest(
  { text, isEncrypted }: StoredRequest,
  key: RunKey,
  encrypter: RequestEncrypter | null,
): PluginCall | null {
  if (text === null) return null;
  const plain = isEncrypted ? (encrypter?.decrypt(text, placeOf(key)) ?? null) : text;
  // `toStoredRequest` wrote the text.
  return plain === null ? null : (parseExactJson(plain) as PluginCall);
}

/** The context that the ciphertext is bound to, so that the text of one row does not decrypt in another. */
function placeOf({ projectId, id }: RunKey): string[] {
  return ['run_request', projectText(projectId), id];
}
