import type { StoredRefreshToken } from '../../access/credential-profiles/resolve-credentials.ts';
import type { EgressRequest, EgressResult, Outbound, OutboundPolicy } from '../../platform/outbound.ts';
import type { CallTimings } from './call-timings.ts';
import type { PlaceholderPolicy } from './placeholders/placeholder-policy.ts';
import type { Redactor } from './redact/redactor.ts';
import type { Injected } from './signing/inject.ts';

/** Sends every outbound call of the service. */
export interface Broker extends Outbound {
  send(request: EgressRequest, policy: EgressPolicy, signal: AbortSignal): Promise<EgressResult>;
}

/** The permissions and limits of one call, with what its credentials need. */
export interface EgressPolicy extends OutboundPolicy {
  /** The result of preparing `inject` with `credentials`, where it is known already. */
  readonly injected?: Injected;
  /** Requests a new access token instead of a cached one. */
  readonly wantsFreshToken?: boolean;
  /** Stores a new refresh token. Absent when the credentials came with the request; nothing is stored then. */
  readonly storedRefreshToken?: StoredRefreshToken | undefined;
  /** Replaces credentials that the upstream refused (401), with which the request is then repeated once. null: there are no others. */
  readonly renew?: (refused: OutboundPolicy['credentials']) => Promise<OutboundPolicy['credentials'] | null>;
  /** Redacts the credentials from the result. Default: a redactor for all `credentials`. */
  readonly redactor?: Redactor;
  /** Replaces the placeholders of credentials. Its bundle has no `inject`. */
  readonly placeholders?: PlaceholderPolicy;
  /** Records every request that is sent, redirects and retries included. */
  readonly trace?: CallTimings | undefined;
}
