import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { parseJson } from '../../platform/json/parse-json.ts';
import { Problem } from '../../platform/problem.ts';
import { encryptionNotConfigured } from '../credential-profiles/problems.ts';
import { hashSecret } from '../oauth/adapter.ts';
import type { ConnectionRow, ConnectionSecrets } from './connection-rows.ts';
import { type ConnectableBundle, type ConnectionsDeps, linkModel, type StoredLink } from './connections.ts';
import { type ConnectedAccount, ProviderFailure, type Tokens } from './provider.ts';
import { livesOf } from './refresh-connection.ts';

export interface ConnectFlowDeps extends ConnectionsDeps {
  readonly findProject: (projectId: string) => Promise<{ readonly name: string } | undefined>;
  /** @throws Problem REQUEST_VALIDATION_ERROR by the schema of the bundle */
  readonly readCredentials: (bundleId: string, credentials: Record<string, unknown>) => Record<string, unknown>;
}

/** Why a page cannot continue. Its person sees a text for it. */
export type ConnectRefusal =
  | 'link_unknown'
  | 'link_used'
  | 'other_browser'
  | 'cancelled'
  | 'refused'
  | 'unavailable'
  | 'misconfigured';

export class ConnectError extends Error {
  readonly refusal: ConnectRefusal;
  /** Known unless the link is unknown. */
  readonly of: Connecting | undefined;
  /** The error code of the provider. */
  readonly code: string | undefined;
  constructor(refusal: ConnectRefusal, of?: Connecting, code?: string) {
    super(refusal);
    this.refusal = refusal;
    this.of = of;
    this.code = code;
  }
}

/** A connection that its end user is about to make. */
export interface Connecting {
  readonly row: ConnectionRow;
  readonly bundle: ConnectableBundle;
  readonly application: string;
  readonly returnUrl: string | null;
}

/** An account that waits for the decision of its person. */
export interface Answered extends Connecting {
  readonly account: ConnectedAccount | null;
  readonly scopes: readonly string[];
}

/** The steps of an end user in the browser: link, provider, decision. Each step works once. ADR 0029. */
export interface ConnectFlow {
  /** Shows what a link is for, and changes nothing, because programs that preview links open it too. */
  describe(token: string): Promise<Connecting>;
  /** Binds the link to one browser, which gets the secret in a cookie. */
  start(token: string): Promise<Connecting & { readonly state: string; readonly secret: string; readonly url: URL }>;
  /** Stores the credentials that a person has entered. */
  submit(token: string, credentials: Record<string, unknown>): Promise<Connecting>;
  /** Exchanges the code, and keeps the tokens until the decision. @returns the connection */
  receive(answer: URLSearchParams, secret: string): Promise<void>;
  describeAnswer(state: string, secret: string): Promise<Answered>;
  decide(state: string, secret: string, isConfirmed: boolean): Promise<Connecting>;
}

const flowModel = 'ConnectFlow';
const answerModel = 'ConnectAnswer';

interface StoredFlow extends StoredLink {
  readonly browser: string;
}

interface StoredAnswer extends StoredFlow {
  readonly tokens: string;
  readonly account: ConnectedAccount | null;
  readonly scopes: readonly string[];
  readonly at: number;
}

export function createConnectFlow(deps: ConnectFlowDeps): ConnectFlow {
  const { clock, providers } = deps;
  const steps = createSteps(deps);
  const redirectUri = () => redirectUriOf(deps.baseUrl());

  async function describe(token: string): Promise<Connecting> {
    const { record, of } = await steps.find<StoredLink>(linkModel, token);
    if (record.consumedAt !== null) throw new ConnectError('link_used', of);
    return of;
  }

  async function providerOf({ row, bundle: { oauth } }: Connecting) {
    if (oauth === undefined) throw new ConnectError('link_unknown');
    return await deps.clients.getProvider(row.bundleId, oauth);
  }

  return {
    describe,
    async start(token) {
      const of = await describe(token);
      const provider = await providerOf(of);
      await steps.useOnce(linkModel, token, of);
      const { stored, record } = await steps.find<StoredLink>(linkModel, token);
      const [state, secret] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')];
      const flow: StoredFlow = { ...stored, browser: hashSecret(secret) };
      await steps.save(flowModel, state, { ...flow }, record.expiresAt);
      const scopes = of.row.connection.asked;
      const request = { state, verifier: verifierOf(secret), redirectUri: redirectUri(), scopes };
      return { ...of, state, secret, url: await providers.authorizationUrl(provider, request) };
    },
    async submit(token, given) {
      const of = await describe(token);
      if (of.bundle.oauth !== undefined) throw new ConnectError('link_unknown');
      const credentials = deps.readCredentials(of.row.bundleId, given);
      await steps.useOnce(linkModel, token, of);
      await activate(deps, of, { credentials }, { account: null, accessExpiresAt: null, refreshAt: null });
      return of;
    },
    async receive(answer, secret) {
      const state = answer.get('state') ?? '';
      const { stored, record, of } = await steps.findOfBrowser<StoredFlow>(flowModel, state, secret);
      const provider = await providerOf(of);
      await steps.useOnce(flowModel, state, of);
      await exchange(deps, of, async () => {
        const request = { state, verifier: verifierOf(secret), redirectUri: redirectUri(), scopes: [] };
        const given = await providers.exchange(provider, answer, request);
        const at = clock.now();
        const account = await providers.findAccount(provider.oauth, given.access);
        const scopes = given.scopes ?? of.row.connection.asked;
        const waiting: StoredAnswer = { ...stored, tokens: encryptTokens(deps, given, state), account, scopes, at };
        await steps.save(answerModel, state, { ...waiting }, record.expiresAt);
      });
    },
    async describeAnswer(state, secret) {
      const { stored, record, of } = await steps.findOfBrowser<StoredAnswer>(answerModel, state, secret);
      if (record.consumedAt !== null) throw new ConnectError('link_used', of);
      return { ...of, account: stored.account, scopes: stored.scopes };
    },
    async decide(state, secret, isConfirmed) {
      const { stored, of } = await steps.findOfBrowser<StoredAnswer>(answerModel, state, secret);
      await steps.useOnce(answerModel, state, of);
      const given = decryptTokens(deps, stored.tokens, state);
      const provider = await providerOf(of);
      if (given === null) throw new ConnectError('link_unknown');
      if (!isConfirmed) {
        deps.countEvent('refused');
        await providers.revoke(provider, given).catch(() => false);
        throw new ConnectError('cancelled', of);
      }
      const credentials = { [provider.oauth.credential]: given.access };
      const { account, scopes } = stored;
      const facts = { account, scopes, ...livesOf(given, stored.at) };
      await activate(deps, of, { credentials, refresh: given.refresh }, facts);
      return of;
    },
  };
}

/** The records of the steps, each of which works once. */
function createSteps({ records, rows, clock, getBundle, findProject }: ConnectFlowDeps) {
  async function connecting(stored: StoredLink): Promise<Connecting> {
    try {
      const row = await rows.get(stored.project_id, stored.connection_id);
      const bundle = getBundle(row.bundleId);
      const project = await findProject(row.projectId);
      return { row, bundle, application: project?.name ?? row.projectId, returnUrl: stored.return_url };
    } catch (error) {
      // The connection, its bundle or its project was deleted.
      if (error instanceof Problem && error.code === 'OBJECT_NOT_FOUND') throw new ConnectError('link_unknown');
      throw error;
    }
  }
  async function find<Payload extends StoredLink>(model: string, secret: string) {
    const found = await records.findRecord(model, hashSecret(secret), clock.now());
    if (found === undefined) throw new ConnectError('link_unknown');
    const stored = found.record.payload as unknown as Payload; // written by `save`, and by `createConnections`
    return { stored, record: found.record, of: await connecting(stored) };
  }
  return {
    find,
    /** @throws ConnectError unless this browser began the step */
    async findOfBrowser<Payload extends StoredFlow>(model: string, state: string, secret: string) {
      const found = await find<Payload>(model, state);
      const isSame = timingSafeEqual(Buffer.from(found.stored.browser), Buffer.from(hashSecret(secret)));
      if (!isSame) throw new ConnectError('other_browser', found.of);
      return found;
    },
    /** One statement, so that only one of two concurrent requests succeeds. */
    async useOnce(model: string, secret: string, of: Connecting): Promise<void> {
      const now = clock.now();
      const isFirst = await records.useRecord(model, hashSecret(secret), { now, since: now, most: 1 });
      if (!isFirst) throw new ConnectError('link_used', of);
    },
    save: (model: string, secret: string, payload: Record<string, unknown>, expiresAt: number) =>
      records.saveRecord({ model, hash: hashSecret(secret), grantId: null, payload, expiresAt }),
  };
}

function encryptTokens({ encrypter }: ConnectFlowDeps, tokens: Tokens, state: string): string {
  if (encrypter === null) throw encryptionNotConfigured();
  return encrypter.encrypt(JSON.stringify(tokens), placeOfAnswer(state)).text;
}

function decryptTokens({ encrypter }: ConnectFlowDeps, text: string, state: string): Tokens | null {
  const plain = encrypter?.decrypt(text, placeOfAnswer(state)) ?? null;
  return plain === null ? null : (parseJson(plain) as Tokens); // written by `encryptTokens`
}

type Facts = Partial<ConnectionRow['connection']>;

/** Replaces credentials and facts, also when the row was changed since, for example by a new encryption key. */
async function activate(
  { rows, countEvent }: ConnectFlowDeps,
  { row }: Connecting,
  secrets: ConnectionSecrets,
  facts: Facts,
): Promise<void> {
  const active = { status: 'active', reason: null, ...facts } as const;
  for (let current = row; !(await rows.save(current, secrets, active)); ) {
    current = await rows.get(row.projectId, row.id);
  }
  countEvent('connected');
}

/**
 * Exchanges the code. A process that ends before the answer is stored leaves a connection that says so. One that is active stays so,
 * because its tokens still work.
 */
async function exchange(
  { rows, countEvent }: ConnectFlowDeps,
  of: Connecting,
  run: () => Promise<void>,
): Promise<void> {
  const { row } = of;
  const { status, reason } = row.connection;
  const isActive = status === 'active';
  if (!isActive) await rows.mark(row, { status: 'reconnect_required', reason: 'outcome_unknown' });
  const set = async (facts: Facts) => {
    if (!isActive) await rows.mark(await rows.get(row.projectId, row.id), facts);
  };
  try {
    await run();
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error;
    countEvent('refused');
    if (error.kind === 'misconfigured') await set({ status: 'misconfigured', reason: error.code });
    if (error.kind === 'refused') await set({ status, reason });
    throw new ConnectError(error.code === 'access_denied' ? 'cancelled' : error.kind, of, error.code);
  }
  await set({ status, reason });
}

export function redirectUriOf(baseUrl: string): string {
  return `${baseUrl.replace(/\/$/, '')}/connect/callback`;
}

/** The verifier of PKCE is computed from the secret of the browser, so the database does not contain it. */
function verifierOf(secret: string): string {
  return hash('sha256', `verifier ${secret}`, 'base64url');
}

function placeOfAnswer(state: string): readonly string[] {
  return ['connect_answer', hashSecret(state)];
}
