import type { SandboxLimits, SandboxOutcome } from '../sandbox.ts';

/** A handler that tries one thing it must not. */
export interface HostileCase {
  /** What it does, for the table of docs/reference/isolation.md. */
  readonly does: string;
  /** The body of `run(input, context)`. It comes to its end only when the attempt has got through. */
  readonly body: string;
  /**
   * How its run may end, for what is no attempt to get out but one to do harm: it must end in one of these, and
   * everything else go on. Absent: an attempt to get out.
   */
  readonly ends?: readonly SandboxOutcome['kind'][];
  readonly limits?: Partial<SandboxLimits>;
  /** Changes what later handlers of its process would meet. */
  readonly isLasting?: true;
  /** Declarations beside `run`. */
  readonly head?: string;
}

/** What the handlers are told, so that an attempt is a real one. */
export interface HostileInput {
  /** A file that every user may read, of another bundle, and one beside the bundles. */
  readonly neighbourFile: string;
  readonly canaryFile: string;
  /** A folder where every user may write. */
  readonly commons: string;
  readonly serverFile: string;
  readonly runtimeFile: string;
  readonly nodeFile: string;
  readonly serverPid: number;
  /** Listeners on 127.0.0.1, in the abstract name space, in a folder. */
  readonly tcp: number;
  readonly udp: number;
  readonly abstract: string;
  readonly socketFile: string;
}

/**
 * `need` gets a module of Node by whatever way is open. `reach` takes what may be Node's `process` or its `require` and
 * reads a file of another bundle with it.
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
