import type { Injection } from '@quartermaster/plugin-kit';
import type { StoredRefreshToken } from '../access/credential-profiles/resolve-credentials.ts';
import type { Secret } from '../kernel/secret.ts';
import type { CallTimings } from './call-timings.ts';
import type { Redactor } from './redact/redactor.ts';
import type { Injected } from './signing/inject.ts';

/** The one way out: every outbound call of the service goes through a broker. */
export interface Broker {
  /** Never throws for what the other side or the policy does: that is in the result. Throws only when `signal` aborts. */
  send(request: EgressRequest, policy: EgressPolicy, signal: AbortSignal): Promise<EgressResult>;
  close(): Promise<void>;
}

export interface EgressRequest {
  readonly method: string;
  /** Absolute, without credentials; may hold `{credential:NAME}` in its path. */
  readonly url: string;
  readonly query?: ReadonlyArray<readonly [string, string]>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** What this call may do. */
export interface EgressPolicy {
  /** Hosts (`name` or `name:port`) the request and its redirects may go to; `'any'` for web records. */
  readonly hosts: ReadonlySet<string> | 'any';
  /** Who says so, for messages; default: the bundle. */
  readonly hostsBy?: 'bundle' | 'operator';
  /** The one host (`name` or `name:port`) credentials go to; null: to none. Absent: to every one of `hosts`. */
  readonly credentialsHost?: string | null;
  readonly schemes: ReadonlySet<'https' | 'http'>;
  readonly credentials: ReadonlyMap<string, Secret>;
  readonly inject: readonly Injection[];
  /** What `inject` and `credentials` come to, where it is known already. */
  readonly injected?: Injected;
  /** An access token that was got for an earlier call will not do. */
  readonly wantsFreshToken?: boolean;
  /** Where a new refresh token is stored; absent: the credentials came with the request, and nothing is stored. */
  readonly storedRefreshToken?: StoredRefreshToken | undefined;
  /** Takes the credentials out of what comes back. Absent: made of all `credentials`. */
  readonly redactor?: Redactor;
  /** Where each request that goes out is noted, redirects and retries too. */
  readonly trace?: CallTimings | undefined;
  /** How often a request that may be sent twice is sent again when the answer asks for that; default: never. */
  readonly maxRetries?: number;
  /** Whatever its method, it may be sent twice. */
  readonly isRepeatable?: boolean;
  readonly maxResponseBytes: number;
  readonly maxRedirects: number;
  /** Milliseconds for the whole call, redirects included. */
  readonly timeoutMs: number;
}

export type EgressResult =
  | {
      readonly kind: 'response';
      readonly status: number;
      /** Names in lower case; credentials scrubbed. */
      readonly headers: Readonly<Record<string, string>>;
      /** Decompressed, credentials scrubbed. */
      readonly body: Buffer;
      /** Where the last redirect led, without query. */
      readonly finalUrl: string;
    }
  /** The policy forbids it: a host that is not declared, an address that is not public, a scheme. */
  | { readonly kind: 'refused'; readonly message: string }
  /** No answer: name, connection, TLS, protocol. */
  | { readonly kind: 'unreachable'; readonly message: string }
  | { readonly kind: 'too_large'; readonly message: string }
  /** The server that grants access tokens refused the credentials. `excerpt`: of its answer, scrubbed. */
  | { readonly kind: 'credentials_rejected'; readonly status: number; readonly excerpt: string }
  | { readonly kind: 'timed_out'; readonly limitMs: number };
