/** The maximum number of bytes that the client reads from an error response. */
const mostErrorBytes = 65_536;

/** Reads the beginning of a body and gives up the rest, because a hostile server could send without end. */
export async function readStart(response: Response, mostBytes = mostErrorBytes): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  while (bytes < mostBytes) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return text;
}

/** Discards a body, so that its connection is free. */
export async function discardBody(response: Response): Promise<void> {
  await response.body?.cancel();
}

/** Whether the response is a redirect. Browsers hide its status and its target. */
export function isRedirect({ type, status }: Response): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400 && status !== 304);
}
