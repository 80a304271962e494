import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { buildSchema, parse as parseGraphql, validate } from 'graphql';
import { parse } from 'yaml';
import type { SentRequest } from '../../bench/piece-verdicts.ts';
import type { CompiledBundle } from '../../packages/server/src/tools/catalogue/catalogue.ts';
import { answersOf, openWorld } from '../bundles/bundle-fixture.ts';
import { documented } from '../bundles/documented-calls.ts';
import { corpusRoot } from '../support/corpus.ts';
import { judgeBy, receivedFor } from './judge-requests.ts';

/**
 * Runs every example of our bundles on its realistic answer, and compares what it sent with the document of the vendor. Prints for each
 * bundle: verified, unverified, retired or contradicted. A bundle that says "verified" without a document here that accepts its
 * requests is contradicted.
 */
interface Evidence {
  readonly document?: string;
  readonly weak?: string;
  readonly graphql?: string;
  readonly names?: string;
  readonly server?: string;
  readonly prefixes?: readonly [inDocument: string, inRequests: string];
  readonly beyond?: Readonly<Record<string, string>>;
  readonly ofForms?: boolean;
}

const evidence: Readonly<Record<string, Evidence>> = parse(
  readFileSync(join(import.meta.dirname, 'vendor-documents.yaml'), 'utf8'),
);
const vendors = join(corpusRoot, 'vendors');
/** What of a vendor's document concerns our requests, where the corpus does not have the document. */
const facts = join(import.meta.dirname, 'vendor-facts');
const files = [...(existsSync(vendors) ? readdirSync(vendors) : []).map((file) => join(vendors, file)), ...factFiles()];
const never = new AbortController().signal;
const world = await openWorld();
const verdicts: Array<{ readonly bundleId: string; readonly verdict: string; readonly facts: readonly string[] }> = [];
after(async () => {
  await world.close();
  for (const { bundleId, verdict, facts } of verdicts) console.log(`${bundleId}: ${[verdict, ...facts].join('; ')}`);
  const counts = ['verified', 'unverified', 'retired', 'contradicted'].map((wanted) => {
    const found = verdicts.filter(({ verdict }) => verdict === wanted);
    return `${wanted} ${found.length}`;
  });
  console.log(counts.join(', '));
});

test('each bundle that the list of documents names exists', () => {
  for (const bundleId of Object.keys(evidence)) assert.ok(world.catalogue.findBundle(bundleId), bundleId);
});

for (const bundle of world.catalogue.bundles.values()) {
  const { retired, api } = bundle.manifest;
  if (retired !== undefined) {
    verdicts.push({ bundleId: bundle.id, verdict: 'retired', facts: [`since ${retired.date}`] });
  } else if (bundle.callsOut && bundle.hostsBy === 'bundle') {
    test(`neither a document nor a realistic answer contradicts ${bundle.id}`, async () => {
      const { sent, wrong, answers } = await replay(bundle);
      const judgement = await judgeRequests(bundle.id, { sent, answers });
      const unproven = `says "verified", but no document of the vendor here accepts one of its requests`;
      const isUnproven = api?.verified !== undefined && judgement.proofs === 0;
      const contradictions = [...wrong, ...judgement.contradictions, ...(isUnproven ? [unproven] : [])];
      const against = api?.verified === undefined ? [] : [`against ${api.verified.against} of ${api.verified.date}`];
      const verdict = contradictions.length > 0 ? 'contradicted' : against.length > 0 ? 'verified' : 'unverified';
      verdicts.push({ bundleId: bundle.id, verdict, facts: [...against, ...judgement.facts, ...contradictions] });
      assert.deepEqual(contradictions, []);
    });
  }
}

/** Runs the examples and the verification of the credentials. Returns what they sent, and which outputs are not those of the example. */
async function replay(bundle: CompiledBundle): Promise<Replay> {
  const [sent, wrong, answers]: [SentRequest[], string[], unknown[]] = [[], [], []];
  const { credentials: own = {}, verify } = documented[bundle.id] ?? {};
  const wanted = { bundle_id: bundle.id, credentials: { ...own } };
  for (const { id, manifest } of bundle.plugins.values()) {
    for (const { input, output, upstream } of manifest.examples ?? []) {
      if (upstream === undefined) continue;
      const given = answersOf(bundle.id, upstream);
      world.willAnswer(...given);
      answers.push(...given.filter(isJson).map(({ body }) => JSON.parse(String(body))));
      const { outcome } = await world.executor.execute({ ...wanted, plugin_id: id, input_params: input }, never);
      const isRight = outcome.kind === 'succeeded' && outcome.violations.length === 0;
      if (!isRight || !isDeepStrictEqual(outcome.output, output)) {
        wrong.push(`${id}: ${upstream} gives ${JSON.stringify(outcome).slice(0, 300)}`);
      }
      sent.push(...receivedFor(world.received, id, manifest.request?.url ?? `https://${bundle.hosts[0]}`));
    }
  }
  const call = bundle.manifest.verify?.request;
  if (call !== undefined && verify !== undefined) {
    world.willAnswer(...answersOf(bundle.id, verify.accepted));
    const { outcome } = await world.executor.verifyCredentials(wanted, never);
    if (outcome.kind !== 'succeeded') wrong.push(`verify: ${verify.accepted} gives ${outcome.kind}`);
    sent.push(...receivedFor(world.received, 'verify', call.url));
  }
  return { sent, wrong, answers };
}

interface Replay {
  readonly sent: SentRequest[];
  readonly wrong: string[];
  /** The answers in JSON that the examples got. */
  readonly answers: unknown[];
}

function factFiles(): string[] {
  return readdirSync(facts).map((file) => join(facts, file));
}

function isJson({ contentType }: { readonly contentType: string }): boolean {
  return contentType.includes('json');
}

interface Judgement {
  readonly facts: readonly string[];
  readonly contradictions: readonly string[];
  /** How many requests a document of the vendor accepts. */
  readonly proofs: number;
}

async function judgeRequests(
  bundleId: string,
  { sent, answers }: Pick<Replay, 'sent' | 'answers'>,
): Promise<Judgement> {
  const { document, weak, graphql, names, server, prefixes, beyond = {}, ofForms = false } = evidence[bundleId] ?? {};
  const name = graphql ?? document ?? names ?? weak;
  if (name === undefined) return { facts: ['no document'], contradictions: [], proofs: 0 };
  const file = files.find((one) => basename(one) === name || basename(one).startsWith(`${name}.`));
  if (file === undefined) return { facts: [`the document ${name} is not here`], contradictions: [], proofs: 0 };
  if (names !== undefined) return judgeNames(file, { sent, answers });
  const judged = sent.filter(({ action }) => !Object.hasOwn(beyond, action));
  const left = Object.entries(beyond).map(([action, reason]) => `${action} was not judged: ${reason}`);
  if (graphql !== undefined) return judgeQueries(file, judged);
  const result = await judgeBy(file, { server, prefixes, judged, ofForms });
  const title = basename(file);
  if (result === null) return { facts: [...left, `${title} has none of its requests`], contradictions: [], proofs: 0 };
  const { accepted, refused, unknown } = result;
  const facts = [`${title} accepts ${accepted} of ${judged.length} requests`, ...left];
  if (weak === undefined)
    return { facts, contradictions: [...refused, ...unknown.map((one) => `${one} is not in it`)], proofs: accepted };
  return {
    facts: [...facts, ...[...refused, ...unknown].map((one) => `others' document differs: ${one}`)],
    contradictions: [],
    proofs: 0,
  };
}

function judgeQueries(file: string, sent: readonly SentRequest[]): Judgement {
  const schema = buildSchema(readFileSync(file, 'utf8'));
  const contradictions = sent.flatMap(({ action, body }) => {
    const { query } = JSON.parse(body.toString()) as { query: string }; // each of its requests is a query
    return validate(schema, parseGraphql(query)).map(({ message }) => `${action}: ${message}`);
  });
  return {
    facts: [`${sent.length} requests were compared with ${basename(file)}`],
    contradictions,
    proofs: sent.length,
  };
}

/** Compares the names of parameters and members, sent and received, with those that the vendor's own source has. */
function judgeNames(file: string, { sent, answers }: Pick<Replay, 'sent' | 'answers'>): Judgement {
  const known: Readonly<Record<string, string>> = parse(readFileSync(file, 'utf8'));
  const inRequests = sent
    .filter(({ action }) => action !== 'verify')
    .flatMap(({ path, body }) => [
      ...new URL(path, 'https://none.invalid').searchParams.keys(),
      ...namesIn(body.length > 0 ? JSON.parse(String(body)) : null),
    ]);
  const used = new Set([...inRequests, ...answers.flatMap((answer) => namesIn(answer))]);
  const unknown = [...used].filter((name) => /^[a-z_]\w*$/.test(name) && !Object.hasOwn(known, name));
  return {
    facts: [`${used.size} names were compared with ${basename(file)}`],
    contradictions: unknown.map((name) => `${name} is not in ${basename(file)}`),
    proofs: sent.length,
  };
}

function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap(namesIn);
  return Array.isArray(value) ? inner : [...Object.keys(value), ...inner];
}
