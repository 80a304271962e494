import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  createVectors,
  findNearest,
} from '../../packages/server/src/search/vector-codes/testing/random-vectors.fixture.ts';
import type { Row } from '../table.ts';
import type { VectorSet } from './recall-rows.ts';

const questions = 20;
const packages = ['hnswlib-node@3.0.0', 'sqlite-vec@0.1.9'];

/** What is used of the packages, which are no dependencies of the product. */
interface Hnsw {
  initIndex(count: number, m: number, efConstruction: number): void;
  addPoint(vector: number[], label: number): void;
  setEf(ef: number): void;
  searchKnn(query: number[], count: number): { neighbors: number[] };
}

/** Measures each peer on the vectors of a set. One that cannot be installed or loaded has a row that says so. */
export async function comparePeers(folder: string, set: VectorSet): Promise<Row[]> {
  const { vectors, queries } = createVectors(set.kind, set);
  const asked = queries(questions);
  const exact = asked.map((query) => findNearest(vectors, query, 10));
  const peers = install(join(folder, 'peers'));
  return [
    ...tryPeer('hnswlib-node', set, () => measureHnsw(peers, { vectors, asked, exact, set })),
    ...tryPeer('sqlite-vec', set, () => measureSqliteVec(peers, { vectors, asked, exact, set })),
  ];
}

function install(folder: string): NodeJS.Require {
  mkdirSync(folder, { recursive: true });
  const [hnsw = '', vec = ''] = packages;
  const entry = (name: string) => [name.slice(0, name.lastIndexOf('@')), name.slice(name.lastIndexOf('@') + 1)];
  const dependencies = Object.fromEntries([hnsw, vec].map(entry));
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ private: true, dependencies, allowScripts: { 'hnswlib-node': true } }),
  );
  execFileSync('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'ignore' });
  return createRequire(join(folder, 'package.json'));
}

function tryPeer(name: string, { count, dimensions }: VectorSet, measure: () => Row[]): Row[] {
  try {
    return measure();
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    return [
      { bench: `${name} ${count} x ${dimensions}`, ours: `not measured: ${reason}`, floor: '', bar: '', met: true },
    ];
  }
}

interface Asked {
  readonly vectors: readonly Float32Array[];
  readonly asked: readonly Float32Array[];
  readonly exact: ReadonlyArray<readonly number[]>;
  readonly set: VectorSet;
}

function measureHnsw(peers: NodeJS.Require, { vectors, asked, exact, set }: Asked): Row[] {
  const { HierarchicalNSW } = peers('hnswlib-node') as {
    HierarchicalNSW: new (space: string, dimensions: number) => Hnsw;
  };
  const index = new HierarchicalNSW('ip', set.dimensions);
  const began = process.cpuUsage();
  index.initIndex(set.count, 16, 200);
  for (const [seq, vector] of vectors.entries()) index.addPoint([...vector], seq);
  const building = seconds(began);
  return [50, 200].map((ef) => {
    index.setEf(ef);
    const numbers = asked.map((query) => [...query]);
    const started = process.cpuUsage();
    const found = numbers.map((query) => index.searchKnn(query, 10).neighbors);
    const ms = (seconds(started) * 1000) / asked.length;
    return toRow(`hnswlib-node M 16 ef ${ef}`, set, { found, exact, ms, beside: `built in ${building.toFixed(1)} s` });
  });
}

function measureSqliteVec(peers: NodeJS.Require, { vectors, asked, exact, set }: Asked): Row[] {
  const { getLoadablePath } = peers('sqlite-vec') as { getLoadablePath(): string };
  using database = new DatabaseSync(':memory:', { allowExtension: true });
  database.loadExtension(getLoadablePath());
  database.exec(`create virtual table vectors using vec0 (vector float[${set.dimensions}])`);
  database.exec('begin');
  const insert = database.prepare('insert into vectors (rowid, vector) values (?, ?)');
  const bytes = (vector: Float32Array) => new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
  for (const [seq, vector] of vectors.entries()) insert.run(BigInt(seq), bytes(vector));
  database.exec('commit');
  const select = database.prepare('select rowid from vectors where vector match ? and k = 10');
  const started = process.cpuUsage();
  const found = asked.map((query) => select.all(bytes(query)).map(({ rowid }) => Number(rowid)));
  const ms = (seconds(started) * 1000) / asked.length;
  return [toRow('sqlite-vec exact', set, { found, exact, ms, beside: '' })];
}

function seconds(began: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1e6;
}

function toRow(
  name: string,
  { count, dimensions }: VectorSet,
  of: Pick<Asked, 'exact'> & { found: ReadonlyArray<readonly number[]>; ms: number; beside: string },
): Row {
  const hits = of.exact.flatMap((seqs, n) => seqs.filter((seq) => of.found[n]?.includes(seq)));
  const recall = (hits.length / of.exact.flat().length).toFixed(3);
  const ours = `recall@10 ${recall}; ${of.ms.toFixed(2)} ms${of.beside === '' ? '' : `; ${of.beside}`}`;
  return { bench: `${name} ${count} x ${dimensions}`, ours, floor: '', bar: '', met: true };
}
