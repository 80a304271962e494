/**
 * Returns the URL without trailing slashes, because paths start with a slash. A path in it stays.
 * @throws TypeError when it is not an http or https URL, or has a user, a query or a fragment; the message does not quote it
 */
export function readBaseUrl(name: string, url: string): string {
  if (typeof url !== 'string' || !URL.canParse(url)) throw new TypeError(`${name} must be an http or https URL.`);
  const { protocol, username, password, search, hash, origin, pathname } = new URL(url);
  if (!/^https?:$/.test(protocol) || username + password + search + hash !== '') {
    throw new TypeError(`${name} must be an http or https URL without user, password, query and fragment.`);
  }
  // A loop, because `/\/+$/` takes quadratic time.
  let end = pathname.length;
  while (pathname[end - 1] === '/') end -= 1;
  return origin + pathname.slice(0, end);
}

/** Returns the value of `Authorization`. It checks the key, because the error of `Headers` would quote it. */
export function bearer(apiKey: string): string {
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError('apiKey must be an API key without spaces and line breaks.');
  }
  return `Bearer ${apiKey}`;
}
