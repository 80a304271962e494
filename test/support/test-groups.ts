import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = resolve(import.meta.dirname, '../..');
const filesPerGroup = 8;
/** Matches the source of a file that changes or measures its process, or has hooks for every test of the process. */
const needsOwnProcess =
  /^(?:before|after)(?:Each)?\(|import fs from|memoryUsage|getActiveResourcesInfo|process\.(?:chdir|cpuUsage|exit)\(/m;

/**
 * Divides test files into groups that each run in one process. The start of a process and the modules that it loads
 * take longer than a short test. Files next to each other mostly load the same modules.
 */
export function groupTestFiles(files: readonly string[]): string[][] {
  const isAlone = (file: string) => needsOwnProcess.test(readFileSync(join(root, file), 'utf8'));
  const [alone, shared] = [files.filter(isAlone), files.filter((file) => !isAlone(file))];
  const groups = alone.map((file) => [file]);
  for (let place = 0; place < shared.length; place += filesPerGroup) {
    groups.push(shared.slice(place, place + filesPerGroup));
  }
  return groups;
}

/** Writes a module for each group, which imports its files. @returns the paths to run */
export function writeGroups(folder: string, groups: readonly string[][]): string[] {
  return groups.map((files, place) => {
    const path = join(folder, `group-${place + 1}.test.mjs`);
    writeFileSync(path, files.map((file) => `import '${pathToFileURL(join(root, file))}';\n`).join(''));
    return path;
  });
}
