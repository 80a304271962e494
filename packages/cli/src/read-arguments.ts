import { InvalidArgumentError } from 'commander';

/** Parses `a,b`. */
export function readList(text: string): string[] {
  return text.split(',').map((item) => item.trim());
}

/** Parses `a=b,c=d`. */
export function readPairs(text: string): Record<string, string> {
  const pairs = readList(text).map((pair) => pair.split('='));
  if (pairs.some((pair) => pair.length !== 2 || pair.includes('')))
    throw new InvalidArgumentError('The value must have the form a=b,c=d.');
  return Object.fromEntries(pairs);
}
