import { loadavg } from 'node:os';
import { join } from 'node:path';
import { residentMemory, startService } from '../processes.ts';
import type { Row } from '../table.ts';
import { describeFigures, type QuestionFigures, type SearchEngine } from './search-engine.ts';
import { searchSheets } from './search-texts.ts';
import {
  askService,
  countAdded,
  importSheet,
  indexBytes,
  measureFirstQuestion,
  openSearchedService,
  removeStore,
  type SearchedService,
  untilMerged,
} from './searched-service.ts';
import { describeWrites, readWriteTimes } from './write-times.ts';

/** The checkout of the commit that is measured beside this tree. */
export interface ComparedCheckout {
  readonly commit: string;
  readonly root: string;
}

interface Targets {
  /** Largest p50 with one connection, as a multiple of that of the compared commit. */
  readonly before: number;
  /** Smallest number of questions a second with 32 connections. */
  readonly perSecond: number;
}

const targets: Readonly<Record<number, Targets>> = {
  1000: { before: 1 / 7, perSecond: 3000 },
  10000: { before: 1 / 7, perSecond: 3500 },
  100000: { before: 1 / 20, perSecond: 1400 },
  1000000: { before: 1 / 40, perSecond: 300 },
};
const manyConnections = [1, 4, 32];
/** The largest bytes of the index for one chunk, and MiB of the service. */
const most = { bytesOfChunk: 130, memory: 300 };
/** Rows that are added while questions are asked. */
const addedRows = 20_000;
const sizeOfAdding = 100_000;

interface Engines {
  readonly ours: SearchedService;
  readonly before: SearchedService | undefined;
}

/** Measures one size: questions of all engines in turn, and the import, index and start of this tree. */
export async function* sizeRows(folder: string, size: number, compared?: ComparedCheckout): AsyncGenerator<Row> {
  await using engines = new AsyncDisposableStack();
  const open = async <Engine extends SearchEngine>(opening: Promise<Engine>) => {
    const engine = await opening;
    engines.defer(() => engine.close());
    return engine;
  };
  const ours = await open(openSearchedService({ name: 'ours', data: join(folder, `ours-${size}`), size }));
  yield await importRow(ours, size);
  const other = compared && { name: compared.commit, data: join(folder, `before-${size}`), size, root: compared.root };
  const before = other && (await open(openSearchedService(other)));
  for (const connections of manyConnections) {
    yield await questionRow({ ours, before }, { size, connections });
  }
  const memory = residentMemory(ours.service.pid);
  await ours.close();
  await before?.close();
  yield await indexRow({ ours, before }, { size, memory, root: compared?.root });
  if (before !== undefined) removeStore(before);
  if (size === sizeOfAdding) yield await addingRow(ours);
  removeStore(ours);
}

/** Measures the first question of both services after a start. */
async function indexRow(
  { ours, before }: Engines,
  { size, memory, root }: { size: number; memory: number; root: string | undefined },
): Promise<Row> {
  const bytes = indexBytes(ours.data) / size;
  const first = await measureFirstQuestion(ours);
  const old = before && (await measureFirstQuestion(before, root));
  return {
    bench: `search, ${size} chunks, index and start`,
    ours: `${bytes.toFixed(0)} bytes a chunk, ${memory.toFixed(0)} MiB after the questions, first question ${first.toFixed(0)} ms`,
    floor: before === undefined ? '' : `${before.name} first question ${old?.toFixed(0)} ms`,
    bar: `≤ ${most.bytesOfChunk} bytes, ≤ ${most.memory} MiB`,
    met: bytes <= most.bytesOfChunk && memory <= most.memory,
  };
}

async function questionRow(
  { ours, before }: Engines,
  { size, connections }: { size: number; connections: number },
): Promise<Row> {
  // With a million chunks, an answer to one of 32 connections can take seconds.
  const load = { connections, seconds: size >= 1_000_000 ? 8 : 3 };
  const figures = await ours.ask(load);
  const old = connections === 1 ? await before?.ask(load) : undefined;
  const target = targets[size];
  const checks = target === undefined ? [] : checkTargets(target, { connections, figures, old });
  return {
    bench: `search, ${size} chunks, ${connections} connection${connections === 1 ? '' : 's'}`,
    ours: `${describeFigures(figures)}; load ${loadavg()[0]?.toFixed(1)}`,
    floor: old === undefined ? '' : `${before?.name} ${describeFigures(old)}`,
    bar: checks.map(({ text }) => text).join('; ') || '–',
    met: checks.every(({ met }) => met),
  };
}

interface Compared {
  readonly connections: number;
  readonly figures: QuestionFigures;
  readonly old: QuestionFigures | undefined;
}

function checkTargets(target: Targets, { connections, figures, old }: Compared) {
  const checks: Array<{ text: string; met: boolean }> = [];
  if (connections === 1 && old !== undefined) {
    const ratio = figures.p50 / old.p50;
    const text = `p50 ours ÷ before 1/${(1 / ratio).toFixed(1)} (≤ 1/${(1 / target.before).toFixed(0)})`;
    checks.push({ text, met: ratio <= target.before });
  }
  if (connections === 32) checks.push({ text: `≥ ${target.perSecond}/s`, met: figures.perSecond >= target.perSecond });
  return checks;
}

/** Waits for the merges that follow the import. */
async function importRow({ service, data, imported, name }: SearchedService, size: number): Promise<Row> {
  await untilMerged(data);
  const { text, above50 } = describeWrites([], await readWriteTimes(service));
  return {
    bench: `search, import of ${size} chunks and merges`,
    ours: `${imported.seconds.toFixed(1)} s, ${((imported.processorSeconds / size) * 1e6).toFixed(0)} µs of processor a chunk (${name})`,
    floor: `writes: ${text}; load ${loadavg()[0]?.toFixed(1)}`,
    bar: 'no write above 50 ms on a quiet disk',
    met: above50 === 0,
  };
}

/** Asks questions while another connection imports a sheet into the same collection. */
async function addingRow({ collection, data }: SearchedService): Promise<Row> {
  const [sheet] = searchSheets(addedRows);
  const service = await startService(data, { QUARTERMASTER_LOG_LEVEL: 'warn' });
  try {
    const ask = () => askService(service, [collection], { connections: 4, seconds: 3 });
    await ask(); // fills the caches
    const [before, added] = [await readWriteTimes(service), countAdded(data)];
    const began = performance.now();
    const importing = importSheet(service, { collection, csv: sheet?.csv ?? '', rows: addedRows });
    const figures = await ask();
    const rate = (countAdded(data) - added) / ((performance.now() - began) / 1000);
    await importing;
    await untilMerged(data);
    const { text, above50 } = describeWrites(before, await readWriteTimes(service));
    return {
      bench: `search, ${sizeOfAdding} chunks, 4 connections, while a record is imported`,
      ours: describeFigures(figures),
      floor: `${rate.toFixed(0)} chunks/s added; writes: ${text}`,
      bar: 'no write above 50 ms on a quiet disk',
      met: above50 === 0,
    };
  } finally {
    await service.stop();
  }
}
