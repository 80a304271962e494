import type { IncomingHttpHeaders } from 'node:http';
import { csrfHeader } from '@quartermaster/contract';
import { csrfHeaderMissing, otherOrigin } from './problems.ts';

const reads = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The parts of a request that the check reads. */
export interface Sent {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

export interface OriginCheck {
  /**
   * Whether a request may use the cookies it came with. Browsers say where a request began in `Sec-Fetch-Site` and
   * `Origin`, which pages cannot set; programs send neither. What changes something needs a header besides, which a
   * page of another origin could add only if this service allowed it, which it never does.
   * @throws Problem PERMISSION_DENIED
   */
  check(sent: Sent): void;
  /** The same without the header: for requests that begin a session. */
  checkOrigin(sent: Sent): void;
}

/** @param publicOrigin where a proxy serves this address; null: requests name the host they reached. */
export function createOriginCheck(publicOrigin: string | null): OriginCheck {
  function checkOrigin({ method, headers }: Sent): void {
    const site = headers['sec-fetch-site'];
    const mayRead = site === 'none' && reads.has(method);
    if (site !== undefined && site !== 'same-origin' && !mayRead) throw otherOrigin();
    const { origin } = headers;
    if (origin !== undefined && origin !== publicOrigin && !isOriginOf(origin, headers.host)) throw otherOrigin();
  }
  return {
    checkOrigin,
    check: (sent) => {
      checkOrigin(sent);
      if (!reads.has(sent.method) && sent.headers[csrfHeader] === undefined) throw csrfHeaderMissing(csrfHeader);
    },
  };
}

function isOriginOf(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
}
