import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Entries } from './entries.ts';

export const pinNames = ['metrics', 'tables-sqlite', 'tables-postgres'] as const;

export type PinName = (typeof pinNames)[number];
export type Surface = Readonly<Record<PinName, Entries>>;

/** Returns what was removed (`-`) and added (`+`) since the pin was written; undefined when nothing changed. */
export function comparePin(name: PinName, now: Entries): string | undefined {
  const before = readPin(name);
  const lines = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort().flatMap((key) => {
    if (before[key] === now[key]) return [];
    const line = (sign: string, entries: Entries) => (key in entries ? [`${sign} ${key}: ${entries[key]}`] : []);
    return [...line('-', before), ...line('+', now)];
  });
  if (lines.length === 0) return undefined;
  const remedy = 'If this is intended, run "npm run script -- surface --write" and add a line to CHANGELOG.md.';
  return [`${pinPath(name)} differs:`, ...lines, remedy].join('\n');
}

export function writePin(name: PinName, entries: Entries): void {
  const sorted = Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(resolve(pinPath(name)), `${JSON.stringify(sorted, null, 2)}\n`);
}

function readPin(name: PinName): Entries {
  try {
    return JSON.parse(readFileSync(resolve(pinPath(name)), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

function pinPath(name: PinName): string {
  return `test/surface/${name}.json`;
}
