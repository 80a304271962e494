import type { OutboundRequest, OutboundResponse } from '@quartermaster/plugin-kit';
import { learnPlaces } from '../egress/placeholders/learn-places.ts';
import { type CredentialPlace, placeText } from '../egress/placeholders/request-parts.ts';
import { toEgress } from '../execution/handler-fetch.ts';
import { computingText, type PieceAction, type PieceDescription } from '../execution/pieces/child/piece-task.ts';
import type { Sandbox } from '../execution/sandbox/sandbox.ts';
import { openPiece } from './piece-process.ts';
import { hostTemplate, type SampleAccount, sampleAccounts, sampleLabel } from './sample-accounts.ts';
import { sampleAnswer, sampleInputs } from './sample-inputs.ts';

/** What a piece did with placeholders while a stand-in answered it. The piece decides this, so an operator confirms it. */
export interface DryRun {
  /** The hosts that its actions called. `{credential}` stands for a credential that a host holds. */
  readonly hosts: readonly string[];
  readonly places: ReadonlyArray<{ readonly host: string; readonly place: CredentialPlace }>;
  /** Actions that compute with a secret, or need its form. They cannot work. */
  readonly computes: readonly string[];
  /** Actions that the bounds left out. */
  readonly untried: readonly string[];
  /** Actions whose requests had only methods that may be repeated (RFC 9110 §9.2.2). */
  readonly repeatable: readonly string[];
  /** Other actions that need credentials and sent none: no request follows from the sample inputs. */
  readonly silent: readonly string[];
  /** Fields that the piece declares as ordinary texts, and that it needs in clear: it sent them in a host or in a body. */
  readonly clearTexts: readonly string[];
  /** Where no credential can be sent although an action held one there, as `action: the body`. */
  readonly elsewhere: readonly string[];
}

const idempotentMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE']);

export interface DryRunOptions {
  readonly onProgress?: OnProgress | undefined;
  readonly limitMs?: number;
}

/** Called before an action is tried, with the number of those that were. */
export type OnProgress = (done: number, all: number) => void;

/** Bounds of all calls together. */
const bounds = { calls: 500, bytes: 16 * 1024 * 1024, ms: 60_000, callMs: 5_000, results: 100 } as const;

/**
 * Runs each action of a piece in the sandbox, without a network, to find out which hosts it calls and where it puts its credentials.
 * @throws Problem when the machine has no sandbox
 */
export async function dryRunPiece(
  file: Uint8Array,
  { auth, actions }: Pick<PieceDescription, 'auth' | 'actions'>,
  sandbox: Sandbox,
  signal: AbortSignal,
  { onProgress = () => {}, limitMs = bounds.ms }: DryRunOptions = {},
): Promise<DryRun> {
  await using piece = await openPiece(file, sandbox);
  const notes = createNotes();
  const tried = new Set<string>();
  const done = new Set<string>();
  const computing = new Set<string>();
  const methods = new Map<string, Set<string>>();
  const ended = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
  let calls = 0;

  /** Whether the action sent its credential, or any request if it needs none. */
  async function attempt(
    action: PieceAction,
    account: SampleAccount,
    props: Record<string, unknown>,
  ): Promise<boolean> {
    calls += 1;
    if (calls > bounds.calls || ended.aborted) return false;
    if (!tried.has(action.name)) onProgress(tried.size, actions.length);
    tried.add(action.name);
    const needsCredential = action.requireAuth && account.placeholders.length > 0;
    let isSent = false;
    const send = async (request: OutboundRequest): Promise<OutboundResponse> => {
      methods.set(action.name, (methods.get(action.name) ?? new Set()).add(request.method ?? 'GET'));
      const held = notes.add(action.name, request, account);
      isSent ||= held || !needsCredential;
      const text = JSON.stringify(sampleAnswer(action.output));
      return { status: 200, headers: { 'content-type': 'application/json' }, text };
    };
    const call = { mode: 'run', action: action.name, props, auth: account.auth } as const;
    const endOfCall = AbortSignal.any([ended, AbortSignal.timeout(bounds.callMs)]);
    const outcome = await piece.run(call, endOfCall, send).catch(() => undefined);
    if (outcome?.kind === 'failed' && outcome.message.includes(computingText)) computing.add(action.name);
    signal.throwIfAborted();
    return isSent;
  }

  async function works(action: PieceAction, accounts: readonly SampleAccount[]): Promise<boolean> {
    const samples = sampleInputs(action.props);
    for (const account of accounts) for (const props of samples) if (await attempt(action, account, props)) return true;
    return false;
  }

  for (const { accounts, others } of sampleAccounts(auth)) {
    const working: PieceAction[] = [];
    for (const action of actions) if (await works(action, accounts)) working.push(action);
    for (const { name } of working) done.add(name);
    for (const action of working.slice(0, 1)) for (const account of others) await works(action, [account]);
  }
  const needing = auth.length === 0 ? [] : actions.filter(({ name, requireAuth }) => requireAuth && tried.has(name));
  const silent = needing.map(({ name }) => name).filter((name) => !done.has(name));
  const computes = silent.filter((name) => computing.has(name));
  const untried = actions.map(({ name }) => name).filter((name) => !tried.has(name));
  const repeatable = [...methods].filter(([, all]) => all.isSubsetOf(idempotentMethods)).map(([name]) => name);
  return { ...notes.found(), computes, untried, repeatable, silent: silent.filter((name) => !computing.has(name)) };
}

const nothingLearnt = { host: '', places: [], elsewhere: [] };

/** Collects what the requests of a piece show, within bounds. */
function createNotes() {
  const hosts = new Set<string>();
  const places = new Map<string, { host: string; place: CredentialPlace }>();
  const elsewhere = new Set<string>();
  const ofTexts = new Map<string, { name: string; host: string; place: CredentialPlace }>();
  /** The texts that a piece needs in clear. */
  const clear = new Set<string>();
  let bytes = 0;

  function lookForTexts(request: OutboundRequest, account: SampleAccount): void {
    for (const [label, name] of account.labels) {
      const { host: found, places: held, elsewhere: others } = learnPlaces(toEgress(request), [label]) ?? nothingLearnt;
      const host = hostTemplate(found, account);
      if (found.includes(label) || others.length > 0) clear.add(name);
      // The prefix of a place is fixed, so what follows another value of the account in a path is none.
      const isBehindText = (place: CredentialPlace) => place.in === 'path' && sampleLabel.test(place.prefix);
      if (held.some(isBehindText)) clear.add(name);
      if (host === null) continue;
      for (const place of held) ofTexts.set(`${name} ${host} ${placeText(place)}`, { name, host, place });
    }
  }

  return {
    /** Whether the request holds a placeholder in a place of credentials. */
    add(action: string, request: OutboundRequest, account: SampleAccount): boolean {
      bytes += JSON.stringify(request).length;
      const isFull = hosts.size + places.size + elsewhere.size >= bounds.results;
      if (bytes > bounds.bytes || isFull) throw new Error('The piece sent too many requests.');
      lookForTexts(request, account);
      const learnt = learnPlaces(toEgress(request), account.placeholders);
      if (learnt === undefined) return false;
      const host = hostTemplate(learnt.host, account);
      if (host === null) return false;
      hosts.add(host);
      for (const place of learnt.places) places.set(`${host} ${placeText(place)}`, { host, place });
      for (const where of learnt.elsewhere) elsewhere.add(`${action}: ${where}`);
      return learnt.places.length > 0;
    },
    found: () => {
      for (const [, name] of [...hosts].join(' ').matchAll(/\{([^{}]+)\}/g)) clear.add(name ?? '');
      for (const { name, host, place } of ofTexts.values()) {
        if (!clear.has(name)) places.set(`${host} ${placeText(place)}`, { host, place });
      }
      const found = { hosts: [...hosts].sort(), places: [...places.values()], elsewhere: [...elsewhere] };
      return { ...found, clearTexts: [...clear].sort() };
    },
  };
}
