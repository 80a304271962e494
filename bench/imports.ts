import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeBundle } from '../packages/cli/src/bundles/write-bundle.ts';
import { type ImportedBundle, importOpenApi } from '../packages/importers/src/openapi/import-openapi.ts';
import { schemaChecks } from '../packages/server/src/app/authoring/authoring.ts';
import type { CompiledPlugin } from '../packages/server/src/tools/catalogue/catalogue.ts';
import { openWorld, type World } from '../test/bundles/bundle-fixture.ts';
import { createRandom, generateValue } from '../test/bundles/generate-input.ts';
import { judge, type SentRequest } from './piece-verdicts.ts';
import { printTable } from './table.ts';

interface Survey {
  readonly name: string;
  readonly operations: number;
  readonly imported: number;
  /** The number of operations by the reason for which they cannot be called. */
  readonly reasons: ReadonlyMap<string, number>;
  readonly tried: number;
  /** Operations for which no input was found. */
  readonly noInput: readonly string[];
  readonly notSent: readonly string[];
  readonly accepted: number;
  readonly judged: number;
  readonly refused: readonly string[];
  /** Errors of the catalogue. */
  readonly failures: readonly string[];
  readonly seconds: number;
}

/**
 * Imports every document of the folders, calls some operations of each one, and lets a mock of the document judge the requests. Prints a
 * row for each document, the sums, and what failed. `--calls N` sets the number of operations, by default 10; 0 only imports. `--server
 * NAME=URL` names the server of a document. `--only WORD` chooses documents by their names.
 */
export async function surveyImports(args: readonly string[]): Promise<void> {
  const { values, positionals: folders } = parseArgs({
    args: [...args],
    options: {
      calls: { type: 'string', default: '10' },
      only: { type: 'string', multiple: true, default: [''] },
      server: { type: 'string', multiple: true, default: [] },
    },
    allowPositionals: true,
  });
  const servers = new Map(
    values.server.map((pair): [string, string] => [pair.split('=', 1)[0] ?? '', pair.replace(/^[^=]*=/, '')]),
  );
  const surveys: Survey[] = [];
  for (const folder of folders) {
    const files = (await readdir(folder)).filter((file) => /\.(json|ya?ml)$/.test(file)).sort();
    for (const file of files.filter((one) => values.only.some((word) => one.includes(word)))) {
      const survey = await surveyDocument(join(folder, file), Number(values.calls), servers.get(file));
      if (survey === null) continue;
      surveys.push(survey);
      console.error(cellsOf(survey).join(' · '));
    }
  }
  report(surveys);
}

/** @returns null for a file that is no API document */
async function surveyDocument(file: string, calls: number, server: string | undefined): Promise<Survey | null> {
  const started = performance.now();
  const name = basename(file);
  const none = {
    name,
    operations: 0,
    imported: 0,
    tried: 0,
    noInput: [],
    notSent: [],
    accepted: 0,
    judged: 0,
    refused: [],
  };
  let imported: ImportedBundle;
  try {
    imported = importOpenApi(await readFile(file, 'utf8'), schemaChecks, { server });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (reason.startsWith('The document must be')) return null;
    const operations = Number(/^No operation of (\d+)/.exec(reason)?.[1] ?? 0);
    const reasons = new Map([[classOf(reason), operations]]);
    return Object.assign({ reasons, failures: [], seconds: secondsSince(started) }, none, { operations });
  }
  const { report: counts } = imported;
  const reasons = new Map<string, number>();
  for (const { reason } of counts.skipped) reasons.set(classOf(reason), (reasons.get(classOf(reason)) ?? 0) + 1);
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-imports-'));
  try {
    await writeBundle(folder, imported);
    const world = await openWorld({ folder });
    try {
      const calledOnes = calls === 0 ? none : await callSome(world, imported.bundle.id, { calls, file });
      const failures = world.catalogue.failures.map(({ file: at, message }) => `${at}: ${message}`);
      const { operations, imported: list } = counts;
      const facts = { operations, imported: list.length, reasons, failures, seconds: secondsSince(started) };
      return Object.assign({}, none, calledOnes, facts);
    } finally {
      await world.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const secondsSince = (started: number) => (performance.now() - started) / 1_000;

/** Reasons without the names of one document. */
function classOf(reason: string): string {
  return reason
    .replace(/^No operation of \d+ can be imported: /, '')
    .replace(/"[^"]*"(,"[^"]*")*|https?:\S+/g, '…')
    .replace(/(… ?)+(and \d+ more)?/g, '… ')
    .slice(0, 140);
}

async function callSome(world: World, bundleId: string, { calls, file }: { calls: number; file: string }) {
  const bundle = world.catalogue.findBundle(bundleId);
  const plugins = [...(bundle?.plugins.values() ?? [])];
  const step = Math.max(1, plugins.length / calls);
  const chosen = plugins.filter((_, index) => Math.floor(index % step) === 0).slice(0, calls);
  const names = Object.keys(Object(Object(bundle?.manifest.credentials_schema).properties));
  const credentials = Object.fromEntries(names.map((one) => [one, `secret-of-${one.toLowerCase()}`]));
  const [noInput, notSent, sent]: [string[], string[], SentRequest[]] = [[], [], []];
  for (const plugin of chosen) {
    const input = inputOf(plugin);
    if (input === undefined) {
      noInput.push(plugin.id);
      continue;
    }
    world.willAnswer({ status: 200, contentType: 'application/json', body: JSON.stringify(anyAnswer) });
    const request = { bundle_id: bundleId, plugin_id: plugin.id, input_params: input, credentials };
    const { outcome } = await world.executor.execute(request, AbortSignal.timeout(20_000));
    const last = world.received.at(-1);
    if (last === undefined) {
      notSent.push(`${plugin.id}: ${JSON.stringify(outcome).slice(0, 200)}`);
      continue;
    }
    const { method, path, query, headers, bytes } = last;
    const { host } = new URL(plugin.manifest.request?.url.replaceAll(/[{}]/g, 'x') ?? 'https://none.invalid');
    const plain = Object.entries(headers).map(([header, value]) => [header, String(value)]);
    const all = query.size === 0 ? path : `${path}?${query}`;
    sent.push({ action: plugin.id, host, method, path: all, headers: Object.fromEntries(plain), body: bytes });
  }
  const failed = (error: unknown) => ({ accepted: 0, refused: [`the mock: ${String(error)}`], unknown: [] });
  const verdicts = await judge(sent, [file]).catch(failed);
  const refused = [...(verdicts?.refused ?? []), ...(verdicts?.unknown ?? [])];
  const accepted = verdicts?.accepted ?? 0;
  return { tried: chosen.length, noInput, notSent, accepted, judged: accepted + refused.length, refused };
}

/** A token, and the answer of every operation. */
const anyAnswer = { access_token: 'granted-token', token_type: 'Bearer', expires_in: 3600 };

/** The generator ignores rules between members, so it may need several attempts. */
function inputOf(plugin: CompiledPlugin): Record<string, unknown> | undefined {
  const random = createRandom(20_261_129);
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const value = generateValue(plugin.manifest.input_schema, random) as Record<string, unknown>; // the root is an object
    if (plugin.readInput(value).violations.length === 0) return value;
  }
  return undefined;
}

function cellsOf({
  name,
  operations,
  imported,
  tried,
  noInput,
  notSent,
  accepted,
  judged,
  failures,
  seconds,
}: Survey): string[] {
  const counts = [operations, imported, operations - imported, tried, noInput.length, notSent.length];
  return [name, ...counts.map(String), `${accepted}/${judged}`, String(failures.length), seconds.toFixed(1)];
}

function report(surveys: readonly Survey[]): void {
  const heads = [
    'document',
    'operations',
    'imported',
    'named',
    'tried',
    'no input',
    'not sent',
    'accepted',
    'errors',
    's',
  ];
  const sum = (of: (survey: Survey) => number) => String(surveys.reduce((total, survey) => total + of(survey), 0));
  const totals = [
    `${surveys.length} documents`,
    sum(({ operations }) => operations),
    sum(({ imported }) => imported),
    sum(({ operations, imported }) => operations - imported),
    sum(({ tried }) => tried),
    sum(({ noInput }) => noInput.length),
    sum(({ notSent }) => notSent.length),
    `${sum(({ accepted }) => accepted)}/${sum(({ judged }) => judged)}`,
    sum(({ failures }) => failures.length),
    '',
  ];
  printTable([heads, ...surveys.map(cellsOf), totals]);
  const reasons = new Map<string, number>();
  for (const survey of surveys) {
    for (const [reason, count] of survey.reasons) reasons.set(reason, (reasons.get(reason) ?? 0) + count);
  }
  console.log('\nNamed, not imported:');
  for (const [reason, count] of [...reasons].sort(([, a], [, b]) => b - a)) console.log(`${count} × ${reason}`);
  for (const { name, refused, noInput, notSent, failures } of surveys) {
    for (const line of [...failures, ...refused, ...notSent, ...noInput.map((one) => `no input: ${one}`)])
      console.log(`${name}: ${line.slice(0, 300)}`);
  }
}
