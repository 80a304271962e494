import { globSync, readFileSync } from 'node:fs';

/** Returns the test files that prove each limit, by the name of the limit. Their titles contain "the limit <name>". */
export function findLimitTests(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const file of globSync([
    'packages/*/src/**/*.{test,suite}.ts',
    'packages/*/test/**/*.test.ts',
    'test/**/*.test.ts',
  ]).sort()) {
    const source = readFileSync(file, 'utf8');
    for (const [, , title = ''] of source.matchAll(/\b(?:test|it|inEachTier)\(\s*(['"`])((?:(?!\1)[^\\]|\\.)*)\1/g)) {
      for (const [, name = ''] of title.matchAll(/\bthe limit ([a-z]+(?:_[a-z]+)+)/g)) {
        const files = found.get(name) ?? [];
        if (!files.includes(file)) files.push(file);
        found.set(name, files);
      }
    }
  }
  return found;
}
