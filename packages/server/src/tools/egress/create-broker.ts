import { lookup } from 'node:dns/promises';
import { type Clock, systemClock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log/logger.ts';
import { Counter, type Registry } from '../../platform/metrics.ts';
import type { EgressRequest, EgressResult } from '../../platform/outbound.ts';
import { createAddressCheck } from './addresses.ts';
import type { Broker, EgressPolicy } from './broker.ts';
import { startCall } from './call.ts';
import { createConnections, type Resolve } from './connections.ts';
import { followHops } from './hops.ts';
import { sendsOwnSecret } from './own-secrets.ts';
import { createGrowingRedactor, createRedactor, type Redactor } from './redact/redactor.ts';
import { withRenewal } from './renew-credentials.ts';
import { withRetries } from './retries.ts';
import { authorise } from './signing/authorise.ts';
import { derivedSecrets } from './signing/derived-secrets.ts';
import { type Injected, nothingInjected, prepareInjection } from './signing/inject.ts';
import { createTokens } from './signing/tokens.ts';
import { isAtHost } from './target.ts';

export interface BrokerDeps {
  /** Maps a declared origin to the origin to contact instead (a gateway, a test server). The target is trusted. */
  readonly overrides: ReadonlyMap<string, string>;
  /** Addresses or CIDR blocks that are treated as public. */
  readonly allow: readonly string[];
  readonly logger: Logger;
  /** The version of the service, for `User-Agent`. */
  readonly version: string;
  /** How a third party reaches the operator, for `User-Agent`. */
  readonly contact?: string | null;
  readonly metrics?: Registry;
  /** Resolves a name. Default: the system's resolver. */
  readonly resolve?: Resolve;
  /** PEM certificates to trust instead of those of the system. */
  readonly ca?: string;
  /** Milliseconds for name lookup, connection and TLS. Default: 5,000. */
  readonly connectTimeoutMs?: number;
  readonly clock?: Clock;
}

/**
 * Creates the broker. Proxy and TLS variables of the environment have no effect. Throws a RangeError for an invalid entry of
 * `allow` and a TypeError for an override that is not an origin.
 */
export function createBroker(deps: BrokerDeps): Broker {
  const isAllowed = createAddressCheck(deps.allow);
  const overrides = new Map([...deps.overrides].map(([from, to]) => [originOf(from), originOf(to)]));
  const resolve: Resolve = deps.resolve ?? ((hostname) => lookup(hostname, { all: true, verbatim: true }));
  const connections = createConnections({
    resolve,
    isAllowed,
    connectTimeoutMs: deps.connectTimeoutMs ?? 5000,
    ...(deps.ca === undefined ? {} : { ca: deps.ca }),
  });
  const redactors = new WeakMap<EgressPolicy['credentials'], Redactor>();
  const clock = deps.clock ?? systemClock;
  const userAgent = `Quartermaster/${deps.version}${deps.contact == null ? '' : ` (${deps.contact})`}`;
  const tokens = createTokens(clock);
  const count = deps.metrics === undefined ? () => {} : createRequestCount(deps.metrics);

  function redactorOf(policy: EgressPolicy): Redactor {
    if (policy.redactor !== undefined) return policy.redactor;
    const known = redactors.get(policy.credentials);
    if (known !== undefined) return known;
    const values = [...policy.credentials.values()].map((secret) => secret.reveal());
    const secrets = [...values, ...derivedSecrets(policy.inject, policy.credentials)];
    const grows = policy.inject.some((injection) => injection.in === 'oauth2');
    const redactor = grows ? createGrowingRedactor(secrets) : createRedactor(secrets);
    redactors.set(policy.credentials, redactor);
    return redactor;
  }

  async function send(request: EgressRequest, policy: EgressPolicy, signal: AbortSignal): Promise<EgressResult> {
    signal.throwIfAborted();
    const prepared =
      policy.injected === undefined
        ? prepareInjection(policy.inject, policy.credentials)
        : { injected: policy.injected };
    if ('refusal' in prepared) {
      const { credential, message } = prepared.refusal;
      return { kind: 'refused', message: `the credential ${JSON.stringify(credential)} ${message}` };
    }
    if (sendsOwnSecret(request, policy)) {
      return { kind: 'refused', message: 'a key or a token of Quartermaster may not be sent to other services' };
    }
    const call = startCall(policy.timeoutMs, signal);
    const redactor = redactorOf(policy);
    const rules = { overrides, isAllowed, connections, userAgent, call, redactor, clock };
    const retrying = { method: request.method, policy, call, clock };
    const follow = (injected: Injected) =>
      withRetries(retrying, () => followHops(request, policy, { ...rules, injected }));
    try {
      const injected = goesWithCredentials(request, policy) ? prepared.injected : nothingInjected;
      const result =
        injected.token === null
          ? await follow(injected)
          : await authorise({ request, policy, injected, redactor, call, tokens, follow, send: broker.send });
      signal.throwIfAborted();
      const isAnswered = result.kind === 'response' || result.kind === 'too_large';
      return call.ended === 'timed_out' && !isAnswered ? { kind: 'timed_out', limitMs: policy.timeoutMs } : result;
    } finally {
      call.finish();
    }
  }

  const sendRenewing = withRenewal(send);
  const broker: Broker = {
    async send(request, policy, signal) {
      const result = await sendRenewing(request, policy, signal);
      count(result.kind);
      // Logs only the host: a path or a query may hold private data.
      if (result.kind !== 'response') {
        const host = redactorOf(policy).text(hostForLog(request.url));
        deps.logger.debug({ host, method: request.method, result: result.kind }, 'outbound call failed');
      }
      return result;
    },
    close: () => connections.close(),
  };
  return broker;
}

/** Whether the request goes to the host that the policy names for the credentials. */
function goesWithCredentials({ url }: EgressRequest, { credentialsHost }: EgressPolicy): boolean {
  if (credentialsHost === undefined) return true;
  const target = URL.parse(url);
  return credentialsHost !== null && target !== null && isAtHost(target, credentialsHost);
}

/** Caches the counters, because looking one up by its labels costs more than counting. */
function createRequestCount(registry: Registry): (result: EgressResult['kind']) => void {
  const requests = new Counter({
    name: 'quartermaster_egress_requests_total',
    help: 'Outbound requests by outcome.',
    labelNames: ['result'],
    registers: [registry],
  });
  const counters = new Map<string, Counter.Internal>();
  return (result) => {
    const counter = counters.get(result) ?? requests.labels({ result });
    counters.set(result, counter);
    counter.inc();
  };
}

function originOf(text: string): string {
  const { origin } = new URL(text);
  if (origin === 'null') throw new TypeError(`${JSON.stringify(text)} is not an http or https origin`);
  return origin;
}

function hostForLog(url: string): string {
  return URL.parse(url)?.host.slice(0, 253) ?? '';
}
