import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { measureLoad } from '../load.ts';
import { freePort, ownProcessorTime } from '../processes.ts';
import type { SearchEngine } from './search-engine.ts';
import { searchQuestions, searchTexts } from './search-texts.ts';
import { connectSphinx } from './sphinx-client.ts';

const programs = { indexer: '/usr/bin/indexer', searchd: '/usr/bin/searchd' };
/** Milliseconds that searchd may take to open an index. */
const startLimit = 30_000;

/** Returns whether Debian's `sphinxsearch` is installed. */
export function hasSphinx(): boolean {
  return Object.values(programs).every((program) => existsSync(program));
}

export interface Sphinx extends SearchEngine {
  readonly indexed: { readonly seconds: number; readonly bytes: number };
}

/** Indexes the texts in `folder` and starts searchd. It ends, and its files are deleted, with `close`. */
export async function openSphinx(folder: string, size: number): Promise<Sphinx> {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const config = join(folder, 'sphinx.conf');
  const texts = join(folder, 'texts.tsv');
  let server: ChildProcess | undefined;
  const close = async () => {
    if (server !== undefined && server.exitCode === null && server.signalCode === null) {
      server.kill('SIGTERM');
      await once(server, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    writeFileSync(config, describeIndex(folder, { port, texts }));
    await pipeline(Readable.from(createLines(size)), createWriteStream(texts));
    const began = performance.now();
    execFileSync(programs.indexer, ['--quiet', '--config', config, 'pairs'], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const seconds = (performance.now() - began) / 1000;
    rmSync(texts);
    const bytes = Number(execFileSync('du', ['--bytes', '--summarize', folder], { encoding: 'utf8' }).split('\t')[0]);
    server = spawn(programs.searchd, ['--nodetach', '--config', config], { stdio: 'ignore' });
    const pid = server.pid as number; // the program exists
    const next = createStatements();
    await untilListening(server, () => connectSphinx(Number(port), next));
    return {
      name: 'Sphinx',
      indexed: { seconds, bytes },
      async ask(load) {
        const before = ownProcessorTime(pid);
        const measured = await measureLoad(load, () => connectSphinx(Number(port), next));
        assert.equal(measured.failures, 0);
        return { ...measured, processorMs: ((ownProcessorTime(pid) - before) * 1000) / measured.responses };
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Any word matches, and BM25 ranks, as in the service. */
function createStatements(): () => string {
  const statements = searchQuestions().map((question) => {
    const words = question.split(' ').join(' | ');
    return `select id from pairs where match('${words}') limit 5 option ranker=bm25, max_matches=5`;
  });
  let sent = 0;
  return () => statements[sent++ % statements.length] as string; // the remainder is a place of it
}

function* createLines(size: number): Generator<string> {
  let id = 0;
  for (const text of searchTexts(size)) yield `${++id}\t${text}\n`;
}

async function untilListening(server: ChildProcess, connect: () => ReturnType<typeof connectSphinx>): Promise<void> {
  const end = performance.now() + startLimit;
  for (;;) {
    const connection = await connect().catch(() => undefined);
    if (connection !== undefined) {
      assert.equal(await connection.ask(), true);
      return connection.close();
    }
    if (server.exitCode !== null || performance.now() > end) throw new Error('searchd did not start');
    await pause(50);
  }
}

function describeIndex(folder: string, { port, texts }: { port: string; texts: string }): string {
  return `source pairs
{
  type = tsvpipe
  tsvpipe_command = cat ${texts}
  tsvpipe_field = content
}
index pairs
{
  source = pairs
  path = ${join(folder, 'pairs')}
}
indexer
{
  mem_limit = 256M
}
searchd
{
  listen = 127.0.0.1:${port}:mysql41
  workers = threads
  log = ${join(folder, 'searchd.log')}
  pid_file = ${join(folder, 'searchd.pid')}
  binlog_path =
  listen_backlog = 256
}
`;
}
