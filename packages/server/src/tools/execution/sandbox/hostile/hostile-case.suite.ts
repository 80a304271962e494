import type { SandboxLimits, SandboxOutcome } from '../sandbox.ts';

/** A handler that attempts one forbidden thing. */
export interface HostileCase {
  /** Describes the attempt in the table of docs/reference/isolation.md. */
  readonly does: string;
  /** The body of `run(input, context)`. It returns only when the attempt has succeeded. */
  readonly body: string;
  /**
   * The allowed outcomes of an attempt to do harm. The run must end with one of them, and other runs must continue.
   * Absent for an attempt to escape.
   */
  readonly ends?: readonly SandboxOutcome['kind'][];
  readonly limits?: Partial<SandboxLimits>;
  /** Whether it changes state that later handlers of the same process see. */
  readonly isLasting?: true;
  /** Declarations outside of `run`. */
  readonly head?: string;
}

/** Returns a tag for the body of a case with these properties. */
export function bodyWith(rest: Partial<HostileCase>) {
  return (parts: TemplateStringsArray, ...values: string[]) => ({
    ...rest,
    body: String.raw({ raw: parts }, ...values),
  });
}

export const lasting = bodyWith({ isLasting: true });

/** Returns the cases of a table: each key is what a case does, and its value is the body, or the case without its name. */
export function casesOf(table: Readonly<Record<string, string | Omit<HostileCase, 'does'>>>): readonly HostileCase[] {
  return Object.entries(table).map(([does, it]) => ({ does, ...(typeof it === 'string' ? { body: it } : it) }));
}

/** Real targets for the attempts. */
export interface HostileInput {
  /** A file of another bundle, and one beside the bundles. Every user may read both. */
  readonly neighbourFile: string;
  readonly canaryFile: string;
  /** A folder in which every user may write. */
  readonly commons: string;
  readonly serverFile: string;
  readonly runtimeFile: string;
  readonly nodeFile: string;
  readonly serverPid: number;
  /** Listeners on 127.0.0.1, in the abstract namespace and in a folder. */
  readonly tcp: number;
  readonly udp: number;
  readonly abstract: string;
  readonly socketFile: string;
}

/**
 * `need` loads a module of Node in any available way. `reach` receives a candidate for Node's `process` or `require`
 * and uses it to read a file of another bundle.
 */
const prelude = `
const need = async (name) => globalThis.process?.getBuiltinModule?.('node:' + name) ?? import('node:' + name);
const must = (value) => { if (!value) throw new Error('not this way'); return value; };
const reach = (input, found) => {
  const fs = typeof found === 'function' ? found('fs') : (found.getBuiltinModule?.('node:fs') ?? found.mainModule.require('fs'));
  must(fs.readFileSync(input.neighbourFile, 'utf8').includes('canary'));
};
const dial = (net, to) => new Promise((yes, no) => { const it = net.connect(to).on('error', no).on('connect', () => { it.destroy(); yes(); }); });
const exited = (child) => new Promise((yes, no) => child.on('error', no).on('exit', (code) => code === 0 ? yes() : no(new Error('exit'))));
`;

export const through = 'through';

export function sourceOf({ body, head = '' }: HostileCase): string {
  return `${prelude}${head}\nexport const run = async (input, context) => {\n${body}\nreturn '${through}';\n};\n`;
}
