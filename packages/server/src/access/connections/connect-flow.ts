import { hash, randomBytes } from 'node:crypto';
import type { Connection, ConnectionConfirmation } from '@quartermaster/contract';
import { serviceSource } from '../../platform/audit/audit.ts';
import type { ProjectProfiles } from '../credential-profiles/resolve-credentials.ts';
import { hashSecret } from '../oauth/adapter.ts';
import {
  ConnectError,
  type ConnectFlowDeps,
  type Connecting,
  createSteps,
  decryptStep,
  encryptStep,
  type StoredFlow,
} from './connect-steps.ts';
import type { ConnectionRow, ConnectionSecrets } from './connection-rows.ts';
import { linkModel, type StoredLink, toWire } from './connections.ts';
import { confirmationInvalid, otherEndUser } from './problems.ts';
import { type ConnectedAccount, ProviderFailure, type Tokens } from './provider.ts';
import { livesOf } from './refresh-connection.ts';
import { revokeAccess } from './remove-connections.ts';

/** An account that waits for the decision of its person. */
export interface Answered extends Connecting {
  readonly account: ConnectedAccount | null;
  readonly scopes: readonly string[];
}

/** What a person has completed. With a confirmation, the connection is not usable before the application sends it. */
export interface Finished extends Connecting {
  readonly confirmation: string | null;
}

/** The steps of an end user in the browser: link, provider, decision. Each step works once. ADR 0029. */
export interface ConnectFlow {
  /** Shows what a link is for, and changes nothing, because programs that preview links open it too. */
  describe(token: string): Promise<Connecting>;
  /** Binds the link to one browser, which gets the secret in a cookie. */
  start(token: string): Promise<Connecting & { readonly state: string; readonly secret: string; readonly url: URL }>;
  /** Stores the credentials that a person has entered. */
  submit(token: string, credentials: Record<string, unknown>): Promise<Finished>;
  /** Exchanges the code, and keeps the tokens until the decision. @returns the connection */
  receive(answer: URLSearchParams, secret: string): Promise<void>;
  describeAnswer(state: string, secret: string): Promise<Answered>;
  decide(state: string, secret: string, isConfirmed: boolean): Promise<Finished>;
  /**
   * Activates a connection whose browser returned to the application, which says who is signed in there. Another person gets nothing:
   * the access is revoked at the provider.
   */
  confirm(user: ProjectProfiles, id: string, body: ConnectionConfirmation): Promise<Connection>;
}

const flowModel = 'ConnectFlow';
const answerModel = 'ConnectAnswer';
const confirmationModel = 'ConnectConfirmation';
const confirmationMs = 10 * 60_000;

interface StoredAnswer extends StoredFlow {
  /** The tokens, encrypted. */
  readonly encrypted: string;
  readonly account: ConnectedAccount | null;
  readonly scopes: readonly string[];
  readonly at: number;
}

/** What becomes of a connection when it is confirmed, encrypted. */
interface StoredConfirmation extends StoredLink {
  readonly encrypted: string;
}

interface Waiting {
  readonly secrets: ConnectionSecrets;
  readonly facts: Facts;
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

  /** Activates the connection, or keeps it until the application confirms it. */
  async function finish(of: Connecting, waiting: Waiting): Promise<Finished> {
    if (of.returnUrl === null) {
      await activate(deps, of.row, waiting.secrets, waiting.facts);
      return { ...of, confirmation: null };
    }
    const confirmation = randomBytes(32).toString('base64url');
    const link = { connection_id: of.row.id, project_id: of.row.projectId, return_url: of.returnUrl };
    const stored: StoredConfirmation = { ...link, encrypted: encryptStep(deps, waiting, confirmation) };
    await steps.save(confirmationModel, confirmation, { ...stored }, clock.now() + confirmationMs);
    return { ...of, confirmation };
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
      const { projectId, bundleId } = of.row;
      const credentials = deps.readCredentials(bundleId, given);
      await deps.verify(projectId, bundleId, credentials);
      await steps.useOnce(linkModel, token, of);
      const facts = { account: null, accessExpiresAt: null, refreshAt: null };
      return await finish(of, { secrets: { credentials }, facts });
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
        const waiting: StoredAnswer = { ...stored, encrypted: encryptStep(deps, given, state), account, scopes, at };
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
      const given = decryptStep<Tokens>(deps, stored.encrypted, state);
      const provider = await providerOf(of);
      if (!isConfirmed) {
        deps.countEvent('refused');
        await providers.revoke(provider, given).catch(() => false);
        throw new ConnectError('cancelled', of);
      }
      const credentials = { [provider.oauth.credential]: given.access };
      const { account, scopes } = stored;
      const facts = { account, scopes, ...livesOf(given, stored.at) };
      return await finish(of, { secrets: { credentials, refresh: given.refresh }, facts });
    },
    confirm: createConfirm(deps, steps),
  };
}

/** The account waits encrypted. It is erased when its time is over. */
function createConfirm(deps: ConnectFlowDeps, steps: ReturnType<typeof createSteps>): ConnectFlow['confirm'] {
  return async ({ projectId, permissions }, id, { confirmation, end_user: endUser }) => {
    const row = await deps.rows.get(projectId, id, permissions);
    try {
      const { stored, of } = await steps.find<StoredConfirmation>(confirmationModel, confirmation);
      if (of.row.id !== row.id) throw confirmationInvalid();
      await steps.useOnce(confirmationModel, confirmation, of);
      const { secrets, facts } = decryptStep<Waiting>(deps, stored.encrypted, confirmation);
      if (endUser === row.connection.endUser) await activate(deps, row, secrets, facts);
      else {
        deps.countEvent('refused');
        await revokeAccess(deps, row, secrets);
        const details = { reason: 'other_end_user' };
        await deps.audit.record(serviceSource, { action: 'connection.refused', id, projectId: row.projectId, details });
        throw otherEndUser(id);
      }
    } catch (error) {
      throw error instanceof ConnectError ? confirmationInvalid() : error;
    }
    return toWire(await deps.rows.get(projectId, id, permissions));
  };
}

type Facts = Partial<ConnectionRow['connection']>;

/** Replaces credentials and facts, also when the row was changed since, for example by a new encryption key. */
async function activate(
  { rows, countEvent }: ConnectFlowDeps,
  row: ConnectionRow,
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
