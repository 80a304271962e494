// `npm run bench -- budgets [<commit>]` measures what users notice and fails when a figure misses its budget. Rates are
// compared with those of an earlier commit in the same run.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { connectClient } from '../test/support/client.ts';
import { compareCommits } from './compare.ts';
import { measureHandler } from './http-benches.ts';
import { runLoad } from './load.ts';
import { generateBundles, prepareCall } from './mcp-calls.ts';
import { createRecord } from './measure-record.ts';
import { measureStart } from './measure-start.ts';
import { type Service, start, startService } from './processes.ts';
import { at, measureQuestions } from './query-benches.ts';
import { csv } from './sheets.ts';
import { printTable } from './table.ts';

export interface Budget {
  readonly name: string;
  readonly measured: number;
  readonly unit: string;
  /** The largest allowed value; with `atLeast`, the smallest. */
  readonly limit: number;
  readonly atLeast?: true;
}

/** The last commit before machinery that saved only microseconds was removed. */
const comparedCommit = 'a49d659';
const comparedRates = ['execute T1, 32 connections', 'list of bundles, 32 connections'];
const rounds = 3;

/** Returns whether the budget is met. NaN is a miss. */
export function isMet({ measured, limit, atLeast }: Budget): boolean {
  return atLeast ? measured >= limit : measured <= limit;
}

/**
 * Measures all budgets and returns whether every one is met.
 * @param commit whose rates are compared; default: {@link comparedCommit}
 */
export async function runBudgets(commit = comparedCommit): Promise<boolean> {
  const folder = mkdtempSync(resolve('bench-data-'));
  try {
    const budgets = [
      ...(await measureStartBudgets(join(folder, 'start'))),
      ...(await withService(join(folder, 'csv'), {}, (service) => measureCsv(service, folder))),
      ...(await withService(join(folder, 'questions'), {}, measureQuestion)),
      ...(await withService(join(folder, 'execute'), {}, measureExecution)),
      ...(await measureMcp(join(folder, 'mcp'))),
      ...(await measureRates(commit, join(folder, 'rates'))),
    ];
    printTable([
      ['row', 'measured', 'budget', 'ok'],
      ...budgets.map((budget) => [
        budget.name,
        `${budget.measured.toFixed(2)} ${budget.unit}`,
        `${budget.atLeast ? '≥' : '≤'} ${budget.limit} ${budget.unit}`,
        isMet(budget) ? 'yes' : 'NO',
      ]),
    ]);
    console.log(`load of the machine: ${loadavg()[0]?.toFixed(1)}`);
    return budgets.every(isMet);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function withService<T>(
  data: string,
  settings: Readonly<Record<string, string>>,
  measure: (service: Service) => Promise<T>,
): Promise<T> {
  const service = await startService(data, { QUARTERMASTER_LOG_LEVEL: 'warn', ...settings });
  try {
    return await measure(service);
  } finally {
    await service.stop();
  }
}

async function measureStartBudgets(folder: string): Promise<Budget[]> {
  const { readyMs, idleMb } = await measureStart(folder);
  return [
    { name: 'ready', measured: readyMs / 1000, unit: 's', limit: 2 },
    { name: 'memory when idle', measured: idleMb, unit: 'MiB', limit: 200 },
  ];
}

async function measureCsv(service: Service, folder: string): Promise<Budget[]> {
  const client = connectClient(service, service.key);
  await createRecord({ service, client, folder }, 'warm.csv', csv(5_000));
  const { seconds } = await createRecord({ service, client, folder }, 'pairs.csv', csv(100_000));
  return [{ name: 'CSV of 100,000 rows becomes a record', measured: seconds, unit: 's', limit: 8 }];
}

async function measureQuestion(service: Service): Promise<Budget[]> {
  const { ours } = await measureQuestions(service);
  return [{ name: 'question over 100,000 chunks, p95', measured: at(ours, 0.95), unit: 'ms', limit: 50 }];
}

async function measureExecution(service: Service): Promise<Budget[]> {
  const bare = await start('bench/bare-server.ts', 1);
  try {
    const [ours, floor] = await measureHandler({ service, bare }, 1);
    const measured = ours.failures > 0 ? Number.NaN : ours.p50 - floor.p50;
    return [{ name: 'execute T1, 1 connection, p50 above a bare route', measured, unit: 'ms', limit: 0.4 }];
  } finally {
    await bare.stop();
  }
}

async function measureMcp(folder: string): Promise<Budget[]> {
  const bundles = join(folder, 'bundles');
  await generateBundles(bundles);
  return await withService(join(folder, 'data'), { QUARTERMASTER_BUNDLES: bundles }, async (service) => {
    const budgets: Budget[] = [];
    for (const revision of ['2026-07-28', '2025-11-25'] as const) {
      const request = await prepareCall(service, revision);
      const { p50, failures } = await runLoad({ url: service.pluginsUrl, request, connections: 1, seconds: 4 });
      const measured = failures > 0 ? Number.NaN : p50;
      budgets.push({ name: `MCP call, ${revision}, 1 connection, p50`, measured, unit: 'ms', limit: 3 });
    }
    return budgets;
  });
}

async function measureRates(commit: string, folder: string): Promise<Budget[]> {
  mkdirSync(folder);
  const rows = await compareCommits({ commit, rounds, only: ['execute', 'lists'], folder });
  return comparedRates.map((name) => {
    const ratio = rows.find((row) => row.name === name)?.ratio ?? Number.NaN;
    return { name: `${name}, share of ${commit}`, measured: ratio * 100, unit: '%', limit: 80, atLeast: true };
  });
}
