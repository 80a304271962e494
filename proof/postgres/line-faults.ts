import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startService } from '../../test/support/service.ts';
import { checkHistory } from '../history/check-history.ts';
import { createClient } from '../history/client.ts';
import { createHistory, fateOf } from '../history/history.ts';
import { checkStore } from '../power/check-crash-state.ts';
import type { PartOptions, PartReport } from '../report.ts';
import { createEndings } from '../support/endings.ts';
import { openUpstream } from '../support/upstream.ts';
import { createCluster, startCluster } from './cluster.ts';
import { lineModes, openProxy } from './proxy.ts';

/** Milliseconds for which each kind of fault lasts. */
const faultLasts = 4_000;
const recoversWithin = 30_000;

/**
 * Cuts, delays and silences the connection to PostgreSQL while clients use the service, also after a COMMIT was sent.
 */
export async function lineFaults(options: PartOptions): Promise<PartReport> {
  const { findings } = options;
  const random = options.random.fork('line to PostgreSQL');
  const endings = createEndings();
  const place = join(options.work, 'line');
  const folder = join(place, 'live');
  mkdirSync(folder, { recursive: true });
  const history = createHistory();
  try {
    await createCluster(join(place, 'cluster'));
    const server = await startCluster(join(place, 'cluster'), endings);
    const proxy = await openProxy(server.url);
    endings.after(proxy.close);
    const upstream = await openUpstream(place);
    endings.after(upstream.close);
    const settings = { ...upstream.settings, DATABASE_URL: proxy.url };
    let service = await startService(endings, { folder, settings });
    const clients = Array.from({ length: 6 }, (_, index) =>
      createClient({ history, random: random.fork(`client ${index}`), name: `c${index}`, largestUpload: 50_000 }),
    );
    const rounds = options.slice ? lineModes.length : lineModes.length * 6;
    for (let round = 0; round < rounds; round++) {
      const mode = lineModes[round % lineModes.length] ?? 'cut';
      const firstOperation = history.operations.length;
      let isOver = false;
      const use = Promise.all(
        clients.map(async (client) => {
          while (!isOver) {
            const { answer } = await client.act(service);
            if (answer === undefined || answer.status >= 500) await pause(50);
          }
        }),
      );
      proxy.set(mode);
      await pause(faultLasts);
      proxy.set('pass');
      if (!(await recovers(service.filesUrl, service.key)))
        findings.add('unavailable', `no upload succeeds after: ${mode}`);
      isOver = true;
      await use;
      const after = findings.after(`the line to PostgreSQL: ${mode}`);
      for (const { request, answer } of history.operations.slice(firstOperation)) {
        if (answer === undefined) after.add('unavailable', `${request.what} was not answered`);
        else if (answer.status >= 500 && answer.status !== 503) {
          after.add('wrong error', `${request.what}: ${answer.status} ${answer.code}`);
        }
      }
      if (random.chance(0.4)) {
        await service.kill();
        service = await startService(endings, { folder, settings });
      }
    }
    // Late commits have arrived by now. The service finishes an interrupted delete at its next start.
    await pause(2_000);
    await service.kill();
    service = await startService(endings, { folder, settings });
    await checkHistory({
      ...{ target: service, operations: history.operations, findings, random, contents: 300, recordsMayFail: true },
      upstreamCalls: upstream.count,
    });
    await checkStore(folder, { DATABASE_URL: server.url }, findings, 'ending');
    await service.stop();
    const fates = Map.groupBy(history.operations, fateOf);
    return {
      name: 'Connection to PostgreSQL',
      cases: rounds,
      figures: {
        ...{ rounds, requests: history.operations.length, 'commits in doubt': proxy.commitsInDoubt() },
        ...{
          acknowledged: fates.get('done')?.length ?? 0,
          'without an answer or 5xx': fates.get('unknown')?.length ?? 0,
        },
      },
    };
  } finally {
    await endings.end();
  }
}

async function recovers(filesUrl: string, key: string): Promise<boolean> {
  for (const latest = performance.now() + recoversWithin; performance.now() < latest; await pause(100)) {
    const form = new FormData();
    form.set('purpose', 'record_file');
    form.set('file', new Blob(['Is it serving?']), 'serving.txt');
    const headers = { Authorization: `Bearer ${key}` };
    const answer = await fetch(`${filesUrl}/v1/files`, { method: 'POST', headers, body: form }).catch(() => undefined);
    const body = (await answer?.json().catch(() => undefined)) as { data?: { file_id: string } } | undefined;
    if (body?.data === undefined) continue;
    await fetch(`${filesUrl}/v1/files/${body.data.file_id}`, { method: 'DELETE', headers });
    return true;
  }
  return false;
}
