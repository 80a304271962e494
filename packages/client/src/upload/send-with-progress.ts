/** The part of `XMLHttpRequest` that is used here. */
interface Request {
  readonly upload: { onprogress: ((event: { readonly loaded: number }) => void) | null };
  readonly status: number;
  readonly response: unknown;
  readonly responseURL: string;
  responseType: string;
  onload: (() => void) | null;
  onerror: (() => void) | null;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getAllResponseHeaders(): string;
  send(body: unknown): void;
  abort(): void;
}

/**
 * Returns a function like `fetch` that uses `XMLHttpRequest`, because `fetch` of browsers does not report upload progress. It sends no
 * cookies. A response that came by a redirect is an error.
 * @param onSent called with the number of sent bytes
 */
export function sendWithProgress(onSent: (bytes: number) => void): typeof fetch {
  return (url, { method = 'GET', headers, body, signal } = {}) =>
    new Promise((resolve, reject) => {
      const { XMLHttpRequest } = globalThis as unknown as { readonly XMLHttpRequest: new () => Request };
      const request = new XMLHttpRequest();
      const abort = () => {
        request.abort();
        reject(signal?.reason);
      };
      request.open(method, String(url));
      request.responseType = 'blob';
      for (const [name, value] of new Headers(headers)) request.setRequestHeader(name, value);
      request.upload.onprogress = ({ loaded }) => onSent(loaded);
      request.onerror = () => reject(new TypeError('the request failed'));
      request.onload = () => {
        signal?.removeEventListener('abort', abort);
        if (request.responseURL !== String(url)) reject(new TypeError('the server answered with a redirect'));
        else resolve(toResponse(request));
      };
      if (signal?.aborted === true) return abort();
      signal?.addEventListener('abort', abort, { once: true });
      request.send(body);
    });
}

function toResponse(request: Request): Response {
  const headers = new Headers();
  for (const line of request.getAllResponseHeaders().split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const { status, response } = request;
  // A response without content must not have a body.
  return new Response([204, 205, 304].includes(status) ? null : (response as Blob), { status, headers });
}
