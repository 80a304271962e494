import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createAdmission } from '../packages/server/src/platform/admission/admission.ts';
import { createLogger } from '../packages/server/src/platform/log/logger.ts';
import { createMetrics } from '../packages/server/src/platform/metrics.ts';
import { openSandbox } from '../packages/server/src/tools/execution/sandbox/open-sandbox.ts';
import type { Sandbox } from '../packages/server/src/tools/execution/sandbox/sandbox.ts';
import { fetchPiece } from './piece-archives.ts';
import { documentsOf } from './piece-documents.ts';
import { loadPiece, type TriedAction, tryActions } from './piece-survey.ts';
import { judge, type Verdicts } from './piece-verdicts.ts';
import { printTable } from './table.ts';

/** Pieces that call no service over HTTP. They are tried, and not in the sums. */
const others: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['data-mapper', 'delay', 'image-helper', 'schedule', 'store', 'subflows', 'webhook'].map((name) => [
      name,
      'no service',
    ]),
  ),
  ...Object.fromEntries(
    ['clarifai', 'microsoft-sql-server', 'mongodb', 'mysql', 'oracle-database'].map((name) => [name, 'sockets']),
  ),
};

interface Result {
  readonly name: string;
  /** self-contained, packed, triggers only, or a kind of `others`. */
  kind: string;
  actions: number;
  /** Plugins with valid manifests and schemas; null when the piece was not loaded. */
  valid: number | null;
  tried: readonly TriedAction[];
  verdicts: Verdicts | null;
  warnings: readonly string[];
  /** Refusals, and what the catalogue found. */
  readonly errors: string[];
  seconds: number;
}

interface Options {
  readonly cache: string;
  readonly documents?: string | undefined;
}

/**
 * Tries every piece of a list and prints a row for each one, the sums, and what failed. The options are `--list FILE`, with the name of a
 * package and its version on each line, `--documents FOLDER` with the OpenAPI documents of services, `--cache FOLDER` for archives, and
 * words that choose pieces by their names.
 */
export async function surveyPieces(args: readonly string[]): Promise<void> {
  const { values, positionals: words } = parseArgs({
    args: [...args],
    options: {
      list: { type: 'string', default: '/dev/stdin' },
      documents: { type: 'string' },
      cache: { type: 'string', default: 'node_modules/.cache/pieces' },
    },
    allowPositionals: true,
  });
  const lines = (await readFile(values.list, 'utf8')).split('\n').map((line) => line.split(/[\t ]/));
  const named = lines.flatMap(([name = '', version = 'latest']) => {
    const short = name.split('/piece-')[1];
    return short === undefined ? [] : [{ short, wanted: `${name}@${version}` }];
  });
  const chosen = named.filter(({ short }) => words.length === 0 || words.some((word) => short.includes(word)));
  const results: Result[] = [];
  await inSandbox(async (sandbox, root) => {
    for (const { short, wanted } of chosen) {
      const result = await tryPiece(short, wanted, values, { sandbox, folder: join(root, short) });
      results.push(result);
      console.error(cellsOf(result).join(' · '));
    }
  });
  await report(results);
}

async function inSandbox(work: (sandbox: Sandbox, root: string) => Promise<void>): Promise<void> {
  const bounds = {
    maxChildrenPerBundle: 1,
    memoryBudgetMb: 1_024,
    queueLength: 16,
    idleMs: 10_000,
    recycleAfterRuns: 1_000,
  };
  const common = { admission: createAdmission(), logger: createLogger('silent'), metrics: createMetrics() };
  const sandbox = await openSandbox({ ...bounds, ...common });
  const root = await realpath(await mkdtemp(join(tmpdir(), 'quartermaster-pieces-')));
  // The child processes have a user of their own.
  await chmod(root, 0o755);
  try {
    await work(sandbox, root);
  } finally {
    await sandbox.close();
    await rm(root, { recursive: true, force: true });
  }
}

async function tryPiece(
  name: string,
  wanted: string,
  { cache, documents }: Options,
  { sandbox, folder }: { sandbox: Sandbox; folder: string },
): Promise<Result> {
  const started = performance.now();
  const counts = { actions: 0, valid: null, tried: [], verdicts: null, warnings: [], errors: [], seconds: 0 };
  const result: Result = { name, kind: others[name] ?? '?', ...counts };
  try {
    const { kind, read } = await fetchPiece(wanted, cache);
    result.kind = others[name] ?? kind;
    await mkdir(folder, { mode: 0o755 });
    const piece = await loadPiece(read, sandbox, folder);
    result.warnings = piece.warnings;
    result.actions = piece.description.actions.length;
    result.errors.push(...piece.catalogue.failures.map(({ file, field, message }) => `${file} ${field}: ${message}`));
    result.valid = piece.catalogue.findBundle(piece.bundleId)?.plugins.size ?? null;
    result.tried = await tryActions(piece, sandbox);
    const requests = result.tried.flatMap((one) => one.requests);
    const found = documents === undefined ? [] : await documentsOf(name, documents);
    const fail = (error: unknown) => {
      result.warnings = [...result.warnings, `The documents cannot judge: ${String(error)}`];
      return null;
    };
    if (found.length > 0) result.verdicts = await judge(requests, found).catch(fail);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (message.includes('The piece has no actions')) result.kind = 'triggers only';
    else result.errors.push(message);
  }
  result.seconds = (performance.now() - started) / 1000;
  return result;
}

/**
 * What is refused on purpose: parts of Activepieces itself, such as its store, computing with a secret, and a credential in a body.
 * They are counted apart.
 */
const limits =
  /of Activepieces, which Quartermaster does not have|lends pieces placeholders|placeholder of a credential is in the body/;
/** Messages of the shims, of the stand-ins and of the broker. */
const ours =
  /Quartermaster|[Pp]ieces? (may|can|cannot)\b|This piece (uses|needs|called)|egress_refused|crashed|out_of_memory|timed_out/;
const errorsOf = ({ errors, tried }: Result) => [
  ...errors,
  ...tried.flatMap(({ id, outcomes }) =>
    outcomes.filter((one) => ours.test(one) && !limits.test(one)).map((one) => `${id}: ${one}`),
  ),
];
const isLimited = ({ outcomes }: TriedAction) => outcomes.some((one) => limits.test(one) && !mayHave.test(one));
/** A guess, at the end of an error of the piece. */
const mayHave = /It may have failed because/;

const heads = [
  'piece',
  'kind',
  'actions',
  'loaded',
  'valid',
  'sent',
  'credential',
  'accepted',
  'limits',
  'errors',
  's',
];

function numbersOf(result: Result) {
  const { tried, verdicts } = result;
  const needing = tried.filter((one) => one.needsCredential);
  return {
    actions: result.actions,
    loaded: result.valid === null ? 0 : 1,
    valid: result.valid ?? 0,
    sent: tried.filter((one) => one.isSent).length,
    held: needing.filter((one) => one.isHeld).length,
    needing: needing.length,
    accepted: verdicts?.accepted ?? 0,
    judged: verdicts === null ? 0 : verdicts.accepted + verdicts.refused.length,
    unknown: verdicts?.unknown.length ?? 0,
    limits: tried.filter((one) => !one.isSent && isLimited(one)).length,
    errors: errorsOf(result).length,
    seconds: result.seconds,
  };
}

function row(name: string, kind: string, pieces: number, all: ReturnType<typeof numbersOf>): string[] {
  const { actions, loaded, valid, sent, held, needing, accepted, judged, unknown, limits, errors, seconds } = all;
  const verdicts = judged + unknown === 0 ? '' : `${accepted}/${judged} (+${unknown})`;
  const cells = [
    actions,
    `${loaded}/${pieces}`,
    valid,
    sent,
    `${held}/${needing}`,
    verdicts,
    limits,
    errors,
    seconds.toFixed(0),
  ];
  return [name, kind, ...cells.map(String)];
}

const cellsOf = (result: Result) => row(result.name, result.kind, 1, numbersOf(result));

async function report(results: readonly Result[]): Promise<void> {
  const sums = [...new Set(results.map(({ kind }) => kind))].sort().map((kind) => {
    const same = results.filter((one) => one.kind === kind);
    const total = same.map(numbersOf).reduce((sum, one) => {
      const added = Object.entries(one).map(([name, count]) => [name, count + sum[name as keyof typeof sum]]);
      return Object.fromEntries(added) as typeof sum; // the same names
    });
    return row(`${same.length} pieces`, kind, same.length, total);
  });
  printTable([heads, ...results.map(cellsOf), heads.map(() => ''), ...sums]);
  console.log(
    `\naccepted: by the documents of the services, of the requests that they know (+ those that they do not). limits: refused on purpose.\n`,
  );
  for (const result of results) {
    const { name, tried, warnings, verdicts } = result;
    const silent = tried.filter((one) => !(one.needsCredential ? one.isHeld : one.isSent));
    const lines = [
      ...errorsOf(result).map((text) => `error: ${text}`),
      ...silent.map(
        ({ id, isSent, outcomes }) => `${isSent ? 'no credential' : 'no request'}: ${id}: ${outcomes.join(' | ')}`,
      ),
      ...warnings.map((text) => `warning: ${text}`),
      ...(verdicts?.refused ?? []).map((text) => `refused: ${text}`),
    ];
    for (const line of lines) console.log(`${name}: ${line.replaceAll('\n', ' ').slice(0, 500)}`);
  }
  const withoutBodies = (key: string, value: unknown) => (key === 'body' || key === 'headers' ? undefined : value);
  await mkdir('bench/results', { recursive: true });
  await writeFile('bench/results/pieces.json', JSON.stringify(results, withoutBodies, 1));
}
