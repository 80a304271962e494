import { Quartermaster, RecordFailedError, type RecordItem, type Run, RunFailedError } from '@quartermaster/client';

/** Both addresses of a service. */
export interface ServiceUrls {
  readonly filesUrl: string;
  readonly pluginsUrl: string;
}

/** Creates a client that reports each response: it never retries, and it has no time limit of its own. */
export function connectClient({ filesUrl, pluginsUrl }: ServiceUrls, apiKey?: string): Quartermaster {
  return new Quartermaster({ baseUrl: filesUrl, pluginsUrl, apiKey, maxRetries: 0, timeout: 0 });
}

/** Waits for a record and returns it in every status, also after it failed. */
export async function settledRecord(
  { records }: Pick<Quartermaster, 'records'>,
  collectionId: string,
  recordId: string,
  signal?: AbortSignal,
): Promise<RecordItem> {
  try {
    return await records.wait(collectionId, recordId, { signal, timeout: 0 });
  } catch (error) {
    if (error instanceof RecordFailedError) return error.record;
    throw error;
  }
}

/** Waits until a run ends and returns it. A failed run is returned, not thrown. */
export async function endedRun({ runs }: Pick<Quartermaster, 'runs'>, runId: string): Promise<Run> {
  try {
    return await runs.wait(runId, { timeout: 0 });
  } catch (error) {
    if (error instanceof RunFailedError) return error.run;
    throw error;
  }
}
