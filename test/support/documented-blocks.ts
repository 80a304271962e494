import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { matchesGlob, relative, resolve } from 'node:path';

/** A block of commands, code or data between fences in a page. */
export interface Block {
  readonly page: string;
  readonly line: number;
  /** What follows the opening fence, such as `sh` or `yaml weather/bundle.yaml`. */
  readonly language: string;
  readonly text: string;
}

export interface Row {
  readonly page: string;
  /** The languages of the row. Default: all. */
  readonly languages?: readonly string[];
  /** Only blocks that contain one of these texts. Default: all. */
  readonly has?: readonly string[];
  /** The test that runs the blocks, or `no` with the reason why none does. */
  readonly by: string;
}

const acceptance = 'test/acceptance';
const guides = `${acceptance}/guides.system.test.ts`;
const api = `${acceptance}/api-examples.system.test.ts`;
const embedding = `${acceptance}/embedding-guides.system.test.ts`;
const dialects = `${acceptance}/dialects.system.test.ts`;
const typescript = `${acceptance}/typescript-client.system.test.ts`;
const data = 'test/documented-blocks.test.ts';
const model = 'no: downloads 487 MB; packages/cli/src/embedding-use.system.test.ts runs the command with a mirror';
const mcp = 'test/compat/mcp-guide.test.ts';

/** Who runs the blocks. The first row that fits a block decides. */
export const rows: readonly Row[] = [
  { page: 'README.md', has: ['npm test'], by: 'no: takes minutes; test/set-up.system.test.ts runs both set-ups' },
  { page: 'README.md', has: ['embedding use'], by: model },
  { page: 'README.md', by: `${acceptance}/readme-tour.test.ts` },
  { page: 'docs/decisions/*', by: 'no: shows a type of the code' },
  { page: 'docs/guides/applications.md', has: ['claude mcp'], by: 'no: needs Claude Code' },
  { page: 'docs/guides/applications.md', by: api },
  { page: 'docs/guides/bundles.md', languages: ['sh'], by: guides },
  {
    page: 'docs/guides/bundles.md',
    languages: ['yaml'],
    has: ['inject:'],
    by: 'packages/server/src/tools/catalogue/manifest/bundles-guide.test.ts',
  },
  { page: 'docs/guides/bundles.md', languages: ['yaml'], by: data },
  { page: 'docs/guides/bundles.md', by: 'packages/cli/src/bundle-commands.system.test.ts' },
  { page: 'docs/guides/command-line.md', by: guides },
  { page: 'docs/guides/connections.md', languages: ['sh'], by: api },
  { page: 'docs/guides/connections.md', languages: ['json'], by: data },
  {
    page: 'docs/guides/deploying.md',
    has: ['docker '],
    by: `no: needs Docker; ${acceptance}/container.system.test.ts builds the image and starts it with the same options`,
  },
  {
    page: 'docs/guides/deploying.md',
    by: 'no: needs root and systemd; test/deploy-files.system.test.ts verifies the unit',
  },
  { page: 'docs/guides/{dify,open-webui}.md', by: dialects },
  { page: 'docs/guides/embedding/*', by: embedding },
  { page: 'docs/guides/embedding.md', has: ['embedding use'], by: model },
  { page: 'docs/guides/embedding.md', has: ['a hot beverage'], by: embedding },
  {
    page: 'docs/guides/embedding.md',
    has: ['add-onnx', 'CHECKSUM'],
    by: 'no: needs a runtime of 290 MB, or a server with a model',
  },
  { page: 'docs/guides/embedding.md', by: data },
  { page: 'docs/guides/evaluation.md', has: ['$FILES'], by: api },
  { page: 'docs/guides/evaluation.md', by: guides },
  {
    page: 'docs/guides/importing.md',
    has: ['stripe', 'mcp.example.com'],
    by: 'no: needs the document of a vendor, or an MCP server; test/compat has both',
  },
  { page: 'docs/guides/importing.md', by: guides },
  { page: 'docs/guides/mcp.md', has: ['claude mcp'], by: 'no: needs Claude Code' },
  { page: 'docs/guides/mcp.md', by: mcp },
  // `move.system.test.ts` runs the command of the page with PostgreSQL and object storage.
  { page: 'docs/guides/moving.md', by: data },
  {
    page: 'docs/guides/operating.md',
    has: ['sudo -u postgres'],
    by: `no: needs root and PostgreSQL; ${acceptance}/restore-elsewhere.system.test.ts restores with it`,
  },
  { page: 'docs/guides/operating.md', has: ['sudo '], by: 'no: needs root' },
  {
    page: 'docs/guides/operating.md',
    has: ['quartermaster verify'],
    by: 'no: compares a clone with its commit; packages/cli/src/verify/verify-command.system.test.ts runs it on one',
  },
  { page: 'docs/guides/operating.md', has: ['QUARTERMASTER_BLOBS', 'QUARTERMASTER_PUBLIC'], by: data },
  { page: 'docs/guides/operating.md', has: ['$FILES'], by: api },
  { page: 'docs/guides/operating.md', has: ['scrape_configs'], by: 'no: needs Prometheus' },
  { page: 'docs/guides/operating.md', by: guides },
  { page: 'docs/guides/people.md', by: api },
  {
    page: 'docs/guides/pieces.md',
    by: `no: needs the registry of npm; ${acceptance}/pieces.system.test.ts runs the commands with its own`,
  },
  {
    page: 'docs/guides/python-client.md',
    languages: ['sh'],
    by: 'no: pip may need the network; the test of the samples builds and installs the wheel',
  },
  { page: 'docs/guides/python-client.md', by: `${acceptance}/python-client.system.test.ts` },
  { page: 'docs/guides/runs.md', languages: ['sh'], by: guides },
  { page: 'docs/guides/runs.md', languages: ['ts'], by: typescript },
  { page: 'docs/guides/runs.md', by: data },
  {
    page: 'docs/guides/scaling.md',
    by: 'no: needs Docker, or takes minutes; test/deploy-scale.system.test.ts checks the files',
  },
  { page: 'docs/guides/{search,tutorials}.md', by: guides },
  { page: 'docs/guides/sign-in.md', by: data },
  { page: 'docs/guides/typescript-client.md', by: typescript },
  { page: 'docs/performance.md', by: 'no: installs the packages of other projects, and runs for an hour' },
  { page: 'docs/reference/secrets.md', has: ['curl'], by: api },
  { page: 'docs/reference/secrets.md', by: guides },
  { page: 'docs/reference/*', by: data },
];

const root = resolve(import.meta.dirname, '../..');

/** Returns all blocks of the README and the documentation that name a language. Blocks without one, and `text`, show what a program printed. */
export function readBlocks(): Block[] {
  const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: root }).sort()];
  return pages
    .flatMap((page) => {
      const source = readFileSync(resolve(root, page), 'utf8');
      return [...source.matchAll(/^ *```([^\n`]+)\n([\s\S]*?)^ *```/gm)].map((found) => ({
        page,
        line: source.slice(0, found.index).split('\n').length,
        language: found[1] ?? '',
        text: found[2] ?? '',
      }));
    })
    .filter(({ language }) => language !== 'text');
}

/** Returns the row that decides about a block. */
export function rowOf(block: Block): Row | undefined {
  return rows.find(
    ({ page, languages, has }) =>
      matchesGlob(block.page, page) &&
      (languages?.includes(block.language) ?? true) &&
      (has?.some((text) => block.text.includes(text)) ?? true),
  );
}

/** Returns the blocks that a test must run, in the order of the pages. @param test the absolute path of the file of the test */
export function blocksRunBy(test: string, page?: string, language?: string): Block[] {
  const by = relative(root, test);
  return readBlocks().filter(
    (block) =>
      rowOf(block)?.by === by && (page ?? block.page) === block.page && (language ?? block.language) === block.language,
  );
}

/** Asserts that a program printed what a page shows. `…` stands for any text, and blanks do not matter. */
export function assertShown(printed: string, shown: string): void {
  const compact = (text: string) => text.replaceAll(/\s+/g, '');
  let rest = compact(printed);
  for (const part of compact(shown).split('…')) {
    const at = rest.indexOf(part);
    assert.notEqual(at, -1, `the page shows ${part}, and the program printed ${printed}`);
    rest = rest.slice(at + part.length);
  }
}
