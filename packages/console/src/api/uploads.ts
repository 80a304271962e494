import type { ApiError } from '@quartermaster/client/api';
import type { Purpose } from '@quartermaster/contract';
import { useSyncExternalStore } from 'react';
import { currentProject, isSessionOver } from './addresses.ts';
import { sendFile } from './send-file.ts';
import { endSession, untilSignedIn } from './session-gate.ts';

export type UploadState = 'waiting' | 'sending' | 'checking' | 'paused' | 'done' | 'failed' | 'cancelled';

/** One file being uploaded. */
export interface Upload {
  readonly id: number;
  readonly name: string;
  readonly bytes: number;
  readonly purpose: Purpose;
  readonly state: UploadState;
  readonly sent: number;
  /** Bytes per second, smoothed. */
  readonly speed: number;
  readonly error: ApiError | 'connection' | null;
}

/** Uploads continue when the user switches to another project. */
interface Job {
  readonly file: File;
  readonly projectId: string;
  request: XMLHttpRequest | null;
}

const atOnce = 3;
let uploads: readonly Upload[] = [];
const jobs = new Map<number, Job>();
const listeners = new Set<() => void>();
let onStored: () => void = () => undefined;
let lastId = 0;
/** Set from the first answer that reports the end of the session until the next sign-in: no upload starts. */
let isHeld = false;

function change(id: number, part: Partial<Upload>): void {
  uploads = uploads.map((upload) => (upload.id === id ? { ...upload, ...part } : upload));
  for (const listener of listeners) listener();
}

/** The uploads of this tab. They continue while other pages are open. */
export function useUploads(): readonly Upload[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => uploads,
  );
}

/** Called after each stored file. */
export function whenStored(listener: () => void): void {
  onStored = listener;
}

export function addUploads(files: ReadonlyArray<{ readonly file: File; readonly purpose: Purpose }>): void {
  const added = files.map(({ file, purpose }): Upload => {
    const id = ++lastId;
    jobs.set(id, { file, projectId: currentProject(), request: null });
    return { id, name: file.name, bytes: file.size, purpose, state: 'waiting', sent: 0, speed: 0, error: null };
  });
  uploads = [...added, ...uploads];
  for (const listener of listeners) listener();
  startNext();
}

function startNext(): void {
  if (isHeld) return;
  const busy = uploads.filter(({ state }) => state === 'sending' || state === 'checking').length;
  const waiting = uploads.filter(({ state }) => state === 'waiting').toReversed();
  for (const upload of waiting.slice(0, Math.max(0, atOnce - busy))) start(upload);
}

function start({ id, purpose }: Upload): void {
  const job = jobs.get(id);
  if (job === undefined) return;
  let last = { at: performance.now(), sent: 0, speed: 0 };
  change(id, { state: 'sending', sent: 0, speed: 0, error: null });
  job.request = sendFile(
    { file: job.file, purpose, projectId: job.projectId },
    {
      onProgress: (sent) => {
        const now = performance.now();
        if (now - last.at >= 250) {
          const current = ((sent - last.sent) / (now - last.at)) * 1000;
          last = { at: now, sent, speed: last.speed === 0 ? current : last.speed * 0.7 + current * 0.3 };
        }
        change(id, { sent, speed: last.speed });
      },
      onSent: () => change(id, { state: 'checking', sent: job.file.size }),
      onStored: () => {
        change(id, { state: 'done', sent: job.file.size });
        onStored();
        startNext();
      },
      onFailed: (error) => {
        if (error === 'connection') change(id, { state: 'failed', error });
        else refuse(id, error);
        startNext();
      },
    },
  );
}

/** An upload that was refused because the session has ended starts again after the next sign-in. */
function refuse(id: number, error: ApiError): void {
  if (!isSessionOver(error)) {
    change(id, { state: 'failed', error });
    return;
  }
  change(id, { state: 'paused', sent: 0, speed: 0 });
  endSession();
  isHeld = true;
  void untilSignedIn().then(() => {
    isHeld = false;
    if (uploads.some((upload) => upload.id === id && upload.state === 'paused')) resumeUpload(id);
    else startNext();
  });
}

function stop(id: number, state: 'paused' | 'cancelled'): void {
  const job = jobs.get(id);
  if (job?.request != null) {
    job.request.onerror = null;
    job.request.onload = null;
    job.request.abort();
    job.request = null;
  }
  change(id, { state, sent: 0, speed: 0 });
  startNext();
}

/** Cancels an upload. The service discards partial uploads. */
export function cancelUpload(id: number): void {
  stop(id, 'cancelled');
}

/** Stops sending. Resuming starts from the beginning, because the service discards partial uploads. */
export function pauseUpload(id: number): void {
  stop(id, 'paused');
}

export function resumeUpload(id: number): void {
  change(id, { state: 'waiting', error: null });
  startNext();
}

const over: ReadonlySet<UploadState> = new Set(['done', 'failed', 'cancelled']);

export function isOver({ state }: Upload): boolean {
  return over.has(state);
}

export function clearUploads(): void {
  for (const upload of uploads.filter(isOver)) jobs.delete(upload.id);
  uploads = uploads.filter((upload) => !isOver(upload));
  for (const listener of listeners) listener();
}
