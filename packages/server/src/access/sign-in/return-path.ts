const nowhere = 'https://console.invalid';

/**
 * Returns the path of the console to which a person goes after the sign-in; `/` for any other text. The text must be as the URL
 * parser writes it, so that it means the same to every reader.
 */
export function readReturnPath(text: string | undefined, isPage: (path: string) => boolean): string {
  const url = text === undefined || text.length > 2000 ? null : URL.parse(text, nowhere);
  if (url === null || url.origin !== nowhere || url.pathname + url.search !== text) return '/';
  return isPage(url.pathname) && !/%(?:2e|2f|5c)/i.test(url.pathname) ? text : '/';
}
