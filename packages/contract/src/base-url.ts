/** Removes trailing slashes, because paths start with a slash. It uses a loop, because `/\/+$/` takes quadratic time. */
export function withoutTrailingSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === '/') end -= 1;
  return url.slice(0, end);
}
