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
   * Checks whether a request may use its cookies. Browsers send the origin of a request in `Sec-Fetch-Site` and
   * `Origin`, which pages cannot set; programs send neither. A request that changes data also needs a header. A page of
   * another origin could send that only with this service's permission, which it never gives.
   * @throws Problem PERMISSION_DENIED
   */
  check(sent: Sent): void;
  /** Performs the same check without the header, for requests that create a session. */
  checkOrigin(sent: Sent): void;
}

/**
 * @param publicOrigin the origin under which a proxy serves this address; null when requests name the host that they
 * reached
 */
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
