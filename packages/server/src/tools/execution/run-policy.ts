import type { Injection } from '@quartermaster/plugin-kit';
import type { RenewCredentials, StoredRefreshToken } from '../../access/credential-profiles/resolve-credentials.ts';
import { memoize } from '../../platform/memoize.ts';
import type { ReceiveLarge } from '../../platform/outbound.ts';
import type { Problem } from '../../platform/problem.ts';
import { Secret } from '../../platform/secret.ts';
import type { CompiledBundle } from '../catalogue/catalogue.ts';
import { valueInvalid } from '../catalogue/problems.ts';
import type { EgressPolicy } from '../egress/broker.ts';
import type { CallTimings } from '../egress/call-timings.ts';
import type { InjectionRefusal } from '../egress/prepared-injection.ts';
import { createGrowingRedactor, createRedactor, noSecrets, type Redactor } from '../egress/redact/redactor.ts';
import { derivedSecrets } from '../egress/signing/derived-secrets.ts';
import { prepareInjection } from '../egress/signing/inject.ts';
import { isSecret, type LentCredentials, lendCredentials } from './lend-credentials.ts';
import { outputPartLimits } from './output-parts/output-part.ts';
import type { SandboxLimits } from './sandbox/sandbox.ts';
import { mostMemoryMb } from './sandbox/sandbox.ts';

/** The upper limits of a run. A bundle may declare lower ones. */
export interface ExecutionLimits extends SandboxLimits {
  /** The maximum number of bytes of one decompressed upstream response. */
  readonly maxResponseBytes: number;
  /**
   * The maximum number of bytes of the output as JSON. Above `outputPartLimits.inlineBytes`, parts of it are stored as
   * artifacts.
   */
  readonly maxOutputBytes: number;
  readonly maxRedirects: number;
  /** Retries of an outbound call that may be repeated. */
  readonly maxRetries: number;
  /** The maximum number of runs of one key that wait or run at the same time. All projects together have four times as many. */
  readonly maxRunsOfKey: number;
  /** Milliseconds for which a checked definition of a remote tool is trusted before it is checked again. */
  readonly toolBeliefMs: number;
}

export const defaultLimits: ExecutionLimits = {
  timeoutMs: 30_000,
  memoryMb: mostMemoryMb,
  cpuMs: 10_000,
  maxResponseBytes: 10 * 1024 * 1024,
  maxOutputBytes: outputPartLimits.outputBytes,
  maxRequests: 20,
  maxRedirects: 3,
  maxRetries: 2,
  maxRunsOfKey: 128,
  toolBeliefMs: 300_000,
};

/** The network permissions and limits of one run, and the redactor for every text about it. */
export interface RunPolicy extends Omit<SandboxLimits, 'maxOutputBytes'> {
  readonly egress: EgressPolicy & { readonly redactor: Redactor };
  /** Only in bundles with `credential_places`. */
  readonly lent?: Pick<LentCredentials, 'handlerCredentials' | 'isUsed'> | undefined;
}

export interface RunPolicyOptions {
  readonly limits: ExecutionLimits;
  /** The injections that the request adds to those of the bundle. */
  readonly own?: readonly Injection[] | undefined;
  readonly trace?: CallTimings | undefined;
  /** Requests a new access token instead of a cached one. */
  readonly wantsFreshToken?: boolean | undefined;
  /** See `mayRepeatCalls`. */
  readonly isRepeatable?: boolean | undefined;
  /** Set when the credentials come from a profile. */
  readonly refreshToken?: StoredRefreshToken | undefined;
  /** Set for the access token of a connection. */
  readonly renew?: RenewCredentials | undefined;
  readonly receiveLarge?: ReceiveLarge;
}

const https = new Set(['https'] as const);
const bothSchemes = new Set(['https', 'http'] as const);
const hostsOf = memoize(({ hosts }: CompiledBundle): ReadonlySet<string> => new Set(hosts));

/**
 * Checks that the credentials can be sent as the bundle and the request (`own`) declare. Throws a Problem (422) that names
 * the credential that cannot.
 */
export function createRunPolicy(
  bundle: CompiledBundle,
  credentials: Readonly<Record<string, unknown>>,
  {
    limits,
    own = [],
    trace,
    wantsFreshToken = false,
    isRepeatable,
    refreshToken,
    renew,
    receiveLarge,
  }: RunPolicyOptions,
): RunPolicy {
  const declared = bundle.manifest.limits;
  const inject = [...(bundle.manifest.inject ?? []), ...own];
  const secrets = readCredentials(credentials);
  const prepared = prepareInjection(inject, secrets);
  if ('refusal' in prepared) throw unfitCredential(prepared.refusal);
  const { credentialsHost: host } = bundle;
  const lent = lendCredentials(bundle, secrets);
  const timeoutMs = Math.min(limits.timeoutMs, declared?.timeout_ms ?? limits.timeoutMs);
  return {
    lent,
    timeoutMs,
    memoryMb: Math.min(limits.memoryMb, declared?.memory_mb ?? limits.memoryMb),
    cpuMs: Math.min(limits.cpuMs, declared?.cpu_ms ?? limits.cpuMs),
    maxRequests: Math.min(limits.maxRequests, declared?.max_requests ?? limits.maxRequests),
    egress: {
      hosts: lent?.hosts ?? hostsOf(bundle),
      hostsBy: lent === undefined && bundle.manifest.piece === undefined ? bundle.hostsBy : 'piece',
      bundleId: bundle.id,
      ...(host === undefined ? {} : { credentialsHost: secrets.get(host)?.reveal() ?? null }),
      schemes: isHttpsOnly(bundle, { lent, inject, secrets }) ? https : bothSchemes,
      credentials: secrets,
      inject,
      injected: prepared.injected,
      ...(lent === undefined ? {} : { placeholders: lent.placeholders }),
      wantsFreshToken,
      storedRefreshToken: refreshToken,
      ...(renew === undefined ? {} : { renew: renewWith(renew) }),
      redactor: createRunRedactor(bundle, {
        credentials: secrets,
        inject,
        superseded: refreshToken?.superseded ?? [],
        isRenewable: renew !== undefined,
      }),
      maxResponseBytes: Math.min(limits.maxResponseBytes, declared?.max_response_bytes ?? limits.maxResponseBytes),
      maxRedirects: limits.maxRedirects,
      maxRetries: limits.maxRetries,
      isRepeatable,
      timeoutMs,
      trace,
      ...(receiveLarge === undefined ? {} : { receiveLarge }),
    },
  };
}

/** The access token is the only credential of a connection with OAuth. */
function renewWith(renew: RenewCredentials): NonNullable<EgressPolicy['renew']> {
  return async (credentials) => {
    const [refused] = credentials.values();
    const renewed = refused === undefined ? null : await renew(refused.reveal());
    return renewed === null ? null : readCredentials(renewed);
  };
}

/** Credentials are sent over https only. A call without credentials may use an upstream that offers only http. */
function isHttpsOnly(
  { hostsBy }: CompiledBundle,
  { inject, lent, secrets }: { inject: readonly Injection[]; lent: unknown; secrets: ReadonlyMap<string, Secret> },
): boolean {
  if (lent !== undefined) return secrets.size > 0;
  return inject.length > 0 && (hostsBy === 'bundle' || secrets.size > 0);
}

function unfitCredential({ credential, message }: InjectionRefusal): Problem {
  const error = { path: `/${credential}`, found: `a value that ${message}`, expected: 'a value that can be sent' };
  return valueInvalid('credentials', [error]);
}

function readCredentials(credentials: Readonly<Record<string, unknown>>): ReadonlyMap<string, Secret> {
  const present = Object.entries(credentials).filter(([, value]) => value !== null && value !== undefined);
  return new Map(
    present.map(([name, value]) => [name, new Secret(typeof value === 'string' ? value : JSON.stringify(value))]),
  );
}

interface SecretsOfRun {
  readonly credentials: ReadonlyMap<string, Secret>;
  readonly inject: readonly Injection[];
  /** Refresh tokens that newer ones have replaced. */
  readonly superseded: readonly string[];
  readonly isRenewable: boolean;
}

/**
 * Redacts the credentials that `x-secret` marks, or all of them when the bundle marks none. A region or an account id is no
 * secret.
 */
function createRunRedactor(
  bundle: CompiledBundle,
  { credentials, inject, superseded, isRenewable }: SecretsOfRun,
): Redactor {
  if (credentials.size === 0) return noSecrets;
  const marked = [...credentials].filter(([name]) => isSecret(bundle, name));
  const values = marked.map(([, secret]) => secret.reveal());
  const secrets = [...values, ...superseded, ...derivedSecrets(inject, credentials)];
  const getsTokens = inject.some((injection) => injection.in === 'oauth2');
  return getsTokens || isRenewable ? createGrowingRedactor(secrets) : createRedactor(secrets);
}
