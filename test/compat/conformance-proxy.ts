import { serve } from '../support/http.ts';
import type { Ending } from '../support/service.ts';

export interface ConformanceProxyOptions {
  /** The MCP endpoint. */
  readonly target: string;
  readonly key: string;
  /** The URI that the suite reads. */
  readonly suiteUri: string;
  /** The URI of the document in its place. */
  readonly uri: string;
}

/**
 * Starts a proxy for the conformance suite, which cannot send a key and reads fixed URIs. The proxy adds the key, and translates the URI in
 * requests and in responses.
 * @returns the URL of the endpoint through the proxy
 */
export async function startConformanceProxy(t: Ending, options: ConformanceProxyOptions): Promise<string> {
  const { target, key, suiteUri, uri } = options;
  const origin = await serve(t, async (incoming, outgoing) => {
    const headers = new Headers({ authorization: `Bearer ${key}` });
    for (const [name, value] of Object.entries(incoming.headers)) {
      if (/^(?:accept|content-type|mcp-.+)$/.test(name)) headers.set(name, String(value).replaceAll(suiteUri, uri));
    }
    const body = (await Array.fromAsync(incoming.setEncoding('utf8'))).join('').replaceAll(suiteUri, uri);
    const { method = 'GET' } = incoming;
    const response = await fetch(target, { method, headers, ...(body === '' ? {} : { body }) });
    const text = (await response.text()).replaceAll(uri, suiteUri);
    outgoing.writeHead(response.status, { 'content-type': response.headers.get('content-type') ?? 'text/plain' });
    outgoing.end(text);
  });
  return `${origin}${new URL(target).pathname}`;
}
