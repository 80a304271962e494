import type { RecordFailure, RecordProgress, RecordStatus } from '@quartermaster/contract';
import type { StreamShares } from '../../../platform/admission/stream-shares.ts';
import { createWakeEvent } from '../../../platform/concurrency/wake-event.ts';
import type { DiskSpace } from '../../../platform/disk/disk-space.ts';
import { toProgress } from './record-item.ts';
import type { RecordKey, RecordRepository, StoredRecord } from './record-repository.ts';

export interface RecordEventsDeps {
  readonly records: Pick<RecordRepository, 'find'>;
  /** Default: the disk is never full. */
  readonly space?: DiskSpace | undefined;
  readonly shares: StreamShares;
  /** The interval between checks in milliseconds, because another process may work on the record. */
  readonly pollMs: number;
  /** The silence after which a comment is sent, in milliseconds, so that no proxy closes the connection. */
  readonly heartbeatMs: number;
}

export const eventDefaults = { pollMs: 1_000, heartbeatMs: 15_000 } as const;

export interface RecordEvents {
  /**
   * Streams the server-sent events of one record: the current state, then each change. The stream ends when the record
   * is no longer being processed or is deleted, or when the signal is aborted.
   * @param keyId the API key or administrator that follows
   * @throws Problem TOO_MANY_REQUESTS when too many streams are open
   */
  follow(key: RecordKey, keyId: string, signal: AbortSignal): AsyncIterable<string>;
  /** Reports that the record may have changed. */
  changed(recordId: string): void;
  /** Ends every stream. */
  close(): void;
}

/** The data of one event. */
interface RecordEvent {
  readonly record_id: string;
  readonly status: RecordStatus;
  readonly num_chunks: number;
  readonly progress: RecordProgress | null;
  readonly error: RecordFailure | null;
}

export function createRecordEvents(deps: RecordEventsDeps): RecordEvents {
  const listeners = new Map<string, Set<() => void>>();
  const closing = new AbortController();

  function subscribe(recordId: string): Subscription {
    const wakeEvent = createWakeEvent();
    const ofRecord = listeners.get(recordId) ?? new Set();
    listeners.set(recordId, ofRecord.add(wakeEvent.notify));
    return {
      wait: wakeEvent.wait,
      end: () => {
        ofRecord.delete(wakeEvent.notify);
        if (ofRecord.size === 0) listeners.delete(recordId);
      },
    };
  }

  async function* stream(key: RecordKey, signal: AbortSignal, leave: () => void): AsyncGenerator<string> {
    const subscription = subscribe(key.recordId);
    try {
      let last = '';
      let sentAt = performance.now();
      while (!signal.aborted) {
        const event = toEvent(key.recordId, await deps.records.find(key), deps.space?.isLow());
        const data = JSON.stringify(event);
        if (data !== last || performance.now() - sentAt >= deps.heartbeatMs) {
          yield data === last ? ': still here\n\n' : `event: record\ndata: ${data}\n\n`;
          last = data;
          sentAt = performance.now();
        }
        if (event.status !== 'creating') return;
        await subscription.wait(deps.pollMs, signal);
      }
    } finally {
      subscription.end();
      leave();
    }
  }

  return {
    follow(key, keyId, signal) {
      const ended = AbortSignal.any([signal, closing.signal]);
      return stream(key, ended, deps.shares.enter({ projectId: key.projectId, keyId }, ended));
    },
    changed(recordId) {
      for (const notify of listeners.get(recordId) ?? []) notify();
    },
    close: () => closing.abort(),
  };
}

interface Subscription {
  wait(atMostMs: number, signal: AbortSignal): Promise<void>;
  end(): void;
}

function toEvent(recordId: string, record: StoredRecord | undefined, waitsForDisk = false): RecordEvent {
  if (record === undefined) {
    return { record_id: recordId, status: 'deleting', num_chunks: 0, progress: null, error: null };
  }
  return {
    record_id: recordId,
    status: record.status,
    num_chunks: record.numChunks,
    progress: toProgress(record, waitsForDisk),
    error: record.error,
  };
}
