/** Addresses are joined with paths that start with a slash. A loop, because `/\/+$/` takes quadratic time. */
export function withoutTrailingSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === '/') end -= 1;
  return url.slice(0, end);
}
