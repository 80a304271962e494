import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../../platform/log/logger.ts';
import { checkObjectStorage } from '../../storage/s3/check-object-storage.ts';
import type { S3Place } from '../../storage/s3/s3-client.ts';
import { type Config, processEnvironment } from '../settings/config.ts';

/**
 * Checks once, in the background, what would fail only when it is needed: a backup of PostgreSQL (missing programs, versions or rights),
 * and the refusal of damaged uploads by the object storage. It logs a warning with the reason. Source: ADR 0058, 0179.
 */
export function startBackgroundChecks(
  { databaseUrl, blobs }: Pick<Config, 'databaseUrl' | 'blobs'>,
  logger: Pick<Logger, 'warn'>,
): { close(): Promise<void> } {
  const abort = new AbortController();
  const { signal } = abort;
  const run = async (message: string, check: () => Promise<void>) => {
    await check().catch((error: unknown) => {
      if (signal.aborted) return;
      const reason = error instanceof Error ? error.message : String(error);
      logger.warn({ reason }, message);
    });
  };
  const running = Promise.all([
    databaseUrl !== null && run('backup check failed', () => tryBackup(databaseUrl.reveal(), signal)),
    blobs !== null && run('object storage check failed', () => tryObjectStorage(blobs, signal)),
  ]);
  return {
    async close() {
      abort.abort();
      await running;
    },
  };
}

async function tryBackup(url: string, signal: AbortSignal): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-check-'));
  try {
    // Loads the driver only when PostgreSQL is used.
    const { tryDump } = await import('../../storage/postgres/postgres-snapshot.ts');
    await tryDump({ url, environment: processEnvironment() }, folder, signal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function tryObjectStorage(place: S3Place, signal: AbortSignal): Promise<void> {
  const faults: string[] = [];
  for await (const { state, message } of checkObjectStorage(place, signal)) if (state !== 'ok') faults.push(message);
  if (faults.length > 0) throw new Error(faults.join(' '));
}
