import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger, openService, parseConfig } from '@quartermaster/server';
import { connectClient } from '../../test/support/client.ts';
import { loadSet, measureSet, type RetrievalSet } from './retrieval.ts';

/** nDCG@10 of one set in one configuration. */
export interface RetrievalScore {
  readonly set: RetrievalSet;
  readonly configuration: string;
  readonly ndcg: number;
}

/** The measured configurations: only the default of the service. */
export const configurations: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  words: {},
};

/** Loads and queries the sets through the API of a new service. `settings` have no prefix. */
export async function measureRetrieval(
  configuration: string,
  settings: Readonly<Record<string, string>>,
  sets: readonly RetrievalSet[],
): Promise<RetrievalScore[]> {
  return withService(settings, async ({ url, apiKey }) => {
    const client = connectClient({ filesUrl: url, pluginsUrl: `${url}/plugins` }, apiKey);
    const scores: RetrievalScore[] = [];
    for (const set of sets) {
      const ndcg = await measureSet(client, set, await loadSet(client, set));
      scores.push({ set, configuration, ndcg });
    }
    return scores;
  });
}

/** A new service with its data folder. */
export interface MeasuredService {
  readonly url: string;
  readonly apiKey: string;
  readonly data: string;
}

/** Starts a new service, calls `act`, stops the service and deletes its data. */
export async function withService<Result>(
  settings: Readonly<Record<string, string>>,
  act: (service: MeasuredService) => Promise<Result>,
): Promise<Result> {
  const data = mkdtempSync(join(tmpdir(), 'quartermaster-retrieval-'));
  const all = { DATA: data, FILES_PORT: '0', SERVE: 'files', ...settings };
  const environment = Object.fromEntries(Object.entries(all).map(([name, value]) => [`QUARTERMASTER_${name}`, value]));
  try {
    const service = await openService(parseConfig(environment), createLogger('error'));
    try {
      const apiKey = service.firstKey?.key.reveal() ?? '';
      const url = service.filesUrls[0] ?? '';
      return await act({ url, apiKey, data });
    } finally {
      await service.close();
    }
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}
