/** The most hosts that a manifest has. */
const maxHosts = 100;
/** Documents and examples, which packages name and no action calls. */
const documents = new Set([
  ...['activepieces.com', 'example.com', 'example.net', 'example.org', 'feross.org', 'github.com', 'ietf.org'],
  ...['json-schema.org', 'lodash.com', 'mozilla.org', 'nodejs.org', 'npmjs.com', 'openjsf.org', 'w3.org', 'whatwg.org'],
]);
const documentLabels = new Set(['developer', 'developers', 'doc', 'docs', 'help', 'schema', 'schemas', 'support']);

/**
 * Finds the hosts of `https://` URLs in the file of a piece. Hosts that the code puts together are not found. Documents of
 * standards and of the third party are left out.
 */
export function literalHosts(file: Buffer): { hosts: string[] } {
  const text = file.toString('latin1').toLowerCase();
  const hosts = new Set<string>();
  const start = 'https://';
  for (let at = text.indexOf(start); at >= 0 && hosts.size < maxHosts; at = text.indexOf(start, at + 1)) {
    const from = at + start.length;
    const [host = ''] = /^[a-z0-9.-]+/.exec(text.slice(from, from + 253)) ?? [];
    const next = text[from + host.length] ?? '';
    const labels = host.split('.');
    const isWhole =
      /["'`/?#\s\\),;]/.test(next) && labels.length > 1 && labels.every((label) => /^[a-z0-9]/.test(label));
    const isDocument = documents.has(labels.slice(-2).join('.')) && host !== 'api.github.com';
    if (isWhole && !isDocument && !documentLabels.has(labels[0] ?? '')) hosts.add(host);
  }
  return { hosts: [...hosts].sort() };
}
