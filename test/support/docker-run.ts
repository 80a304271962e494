import { readFile } from 'node:fs/promises';

/** Reads the options of the `docker run` that the guide documents, and all documented `docker` commands. */
export async function readDockerRun() {
  const guide = await readFile('docs/guides/deploying.md', 'utf8');
  const commands = guide
    .replaceAll(' \\\n', ' ')
    .split('\n')
    .filter((line) => line.startsWith('docker '));
  const run = commands.find((line) => line.startsWith('docker run ')) ?? '';
  const options = [...run.matchAll(/ (--[a-z-]+)(?: (?!--)(\S+))?/g)].map(
    ([, name = '', value = '']) => [name, value] as const,
  );
  return { options, image: run.split(' ').at(-1) ?? '', commands: commands.join('\n') };
}
