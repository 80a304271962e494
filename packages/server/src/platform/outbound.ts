import type { Injection } from '@quartermaster/plugin-kit';
import type { Secret } from './secret.ts';

/** Sends outbound calls of the service: the port of the egress broker, through which every outbound byte passes. */
export interface Outbound {
  /** Reports failures of the upstream and of the policy in the result. Throws only when `signal` aborts. */
  send(request: EgressRequest, policy: OutboundPolicy, signal: AbortSignal): Promise<EgressResult>;
  close(): Promise<void>;
}

export interface EgressRequest {
  readonly method: string;
  /** An absolute URL without credentials. Its path may contain `{credential:NAME}`. */
  readonly url: string;
  readonly query?: ReadonlyArray<readonly [string, string]>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Receives the body of a successful answer while it arrives, unless it is compressed. It is not redacted. */
  readonly onData?: ((chunk: Uint8Array) => void) | undefined;
}

/** An answer that is larger than `maxResponseBytes`, while it arrives. */
export interface LargeAnswer {
  readonly contentType: string | undefined;
  /** Decompressed and redacted. Throws when the answer breaks off or cannot be decoded or redacted. */
  readonly body: AsyncIterable<Buffer>;
}

export type ReceiveLarge = (answer: LargeAnswer) => Promise<void>;

/** The permissions and limits of one call. */
export interface OutboundPolicy {
  /** The hosts (`name` or `name:port`) that the request and its redirects may reach; `'any'` for web records. */
  readonly hosts: ReadonlySet<string> | 'any';
  /** Who declared the hosts, for messages. Default: the bundle. */
  readonly hostsBy?: 'bundle' | 'piece' | 'operator' | 'command' | 'registry';
  /** The bundle of a piece, which the message about a refused host names. */
  readonly bundleId?: string;
  /** The only host (`name` or `name:port`) that receives credentials; null for none. Default: every host of `hosts`. */
  readonly credentialsHost?: string | null;
  readonly schemes: ReadonlySet<'https' | 'http'>;
  readonly credentials: ReadonlyMap<string, Secret>;
  readonly inject: readonly Injection[];
  /** The retries of a repeatable request when the answer asks for a retry. Default: none. */
  readonly maxRetries?: number;
  /** Whether the request may be repeated. Default: if its method reads. */
  readonly isRepeatable?: boolean | undefined;
  readonly maxResponseBytes: number;
  readonly maxRedirects: number;
  /** Receives a successful answer that is larger than `maxResponseBytes`. Without it, the connection is closed. Never rejects. */
  readonly receiveLarge?: ReceiveLarge;
  /** Milliseconds for the whole call, redirects included. */
  readonly timeoutMs: number;
}

export type EgressResult =
  | {
      readonly kind: 'response';
      readonly status: number;
      /** Names in lower case; credentials are redacted. */
      readonly headers: Readonly<Record<string, string>>;
      /** Decompressed; credentials are redacted. */
      readonly body: Buffer;
      /** The URL after the last redirect, without its query. */
      readonly finalUrl: string;
    }
  /** The policy forbids the request: an undeclared host, a non-public address or a scheme. */
  | { readonly kind: 'refused'; readonly message: string }
  /** No answer arrived: name lookup, connection, TLS or protocol failed. */
  | {
      readonly kind: 'unreachable';
      readonly message: string;
      /** The origin of a redirect that was one too many; redacted. */
      readonly redirectOrigin?: string;
      /** The status and the `Retry-After` of a token endpoint that gave no token. */
      readonly status?: number;
      readonly retryAfter?: string | undefined;
    }
  | { readonly kind: 'too_large'; readonly message: string }
  /** The token endpoint rejected the credentials. `excerpt` is the start of its answer, redacted. */
  | { readonly kind: 'credentials_rejected'; readonly status: number; readonly excerpt: string }
  | { readonly kind: 'timed_out'; readonly limitMs: number };
