import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { anyMark, evaluateArgument, evaluateText, gap } from './evaluate-text.ts';
import { isNode, nameOf, readSource, type SourceFile, type SyntaxNode, type Visit } from './source-file.ts';

export type MessageKind =
  | ('problem' | 'outcome' | 'error' | 'output' | 'log' | 'setting')
  // `setup` stands for the scripts that install packages, `manifest` for the errors of bundles.
  | ('setup' | 'banner' | 'manifest' | 'report' | 'doctor' | 'reason');

/** A text that a user can see, and the place in the code that creates it. */
export interface Message {
  readonly kind: MessageKind;
  readonly text: string;
  /** The error code, the kind of the outcome, or the level of the log line. */
  readonly code: string;
  /** The `event` of a log line. */
  readonly event: string;
  readonly module: string;
}

type Found = Message & { readonly file: string };

/** Returns the production files whose messages are collected. */
export function messageFiles(): string[] {
  return globSync([
    'packages/{cli,client,contract,plugin-kit,server}/src/**/*.ts',
    'scripts/set-up/*.mjs',
    'scripts/test.mjs',
  ])
    .filter((file) => !/\.(test|suite|fixture)\.ts$|\/testing\//.test(file))
    .sort();
}

/**
 * Collects every text that users see: those of error constructors, outcomes of runs, the logger, standard streams and
 * the list of wrong settings. It follows a text that is passed to a function to the callers of that function.
 */
export function collectMessages(sources: readonly SourceFile[]): Message[] {
  const found = sources.flatMap((source) => source.visits.flatMap((visit) => messagesAt(source, visit)));
  const complete = new Map<string, Message>();
  for (const message of found.flatMap((one) => completeText(one, sources, 0))) {
    const text = message.text.replace(/\s+/g, ' ').replace(/…+/g, gap).trim();
    if (!/\p{L}{2}/u.test(text) || (message.kind === 'error' && !text.includes(' '))) continue;
    const { kind, code, event, module } = message;
    complete.set([kind, code, text, module].join('\0'), { kind, code, event, module, text });
  }
  return [...complete.values()].sort((a, b) => (`${a.code} ${a.text}` < `${b.code} ${b.text}` ? -1 : 1));
}

function messagesAt(source: SourceFile, { node, functions }: Visit): Found[] {
  const place = placeOf(node, source.file);
  if (place === null) return [];
  const { kind, code, event = '', value } = place;
  const module = moduleOf(source.file);
  const { file } = source;
  return evaluateText(value, { source, functions }).map((text) => ({ kind, code, event, module, text, file }));
}

/** Returns the modules and files with a `Problem` whose text cannot be read from the code because it is passed as a value. */
export function findOpaqueProblems(sources: readonly SourceFile[]): string[] {
  const found = sources.flatMap((source) => source.visits.flatMap((visit) => messagesAt(source, visit)));
  const texts = found.filter(({ kind }) => kind === 'problem').flatMap((one) => completeText(one, sources, 0));
  const opaque = texts.filter(({ text }) => !/\p{L}{2}/u.test(text));
  return [...new Set(opaque.map(({ module, file }) => `${module}/${basename(file)}`))].sort();
}

interface MessagePlace {
  readonly kind: MessageKind;
  readonly code: string;
  readonly event?: string;
  /** The expression of the text. */
  readonly value: unknown;
}

const outcomes = /^(input_rejected|upstream_failed|egress_refused|failed|crashed)$/;

function placeOf(node: SyntaxNode, file: string): MessagePlace | null {
  if (node.type === 'NewExpression') return placeOfError(node);
  if (node.type === 'CallExpression') return placeOfCall(node, file);
  if (node.type === 'FunctionDeclaration') return placeOfFunction(node, file);
  if (/\/banner\.ts$/.test(file)) return placeInBanner(node);
  if (node.type === 'ConditionalExpression' && /\/settings\//.test(file)) return placeOfCheck(node);
  if (node.type !== 'ObjectExpression') return null;
  // A log line that is written without the logger, because the event loop is blocked.
  const [level, msg] = [memberOf(node, 'level'), memberOf(node, 'msg')];
  if (msg !== undefined && textOf(level) !== null) return { kind: 'log', code: textOf(level) ?? '', value: msg };
  const kind = memberOf(node, 'kind');
  const outcome = isNode(kind) && typeof kind.value === 'string' ? kind.value : '';
  const value = memberOf(node, 'message');
  return outcomes.test(outcome) && value !== undefined ? { kind: 'outcome', code: outcome, value } : null;
}

/** Finds the requirement of a setting in `isValid ? null : 'must be …'`. */
function placeOfCheck({ consequent, alternate }: SyntaxNode): MessagePlace | null {
  const [value, other] = isNull(consequent) ? [alternate, consequent] : [consequent, alternate];
  return isNull(other) ? { kind: 'setting', code: '', value } : null;
}

function isNull(node: unknown): boolean {
  return isNode(node) && node.type === 'Literal' && node.value === null;
}

function placeOfError(node: SyntaxNode): MessagePlace | null {
  const name = nameOf(node.callee) ?? '';
  const [first, second] = node.arguments as unknown[];
  if (name === 'Problem') return { kind: 'problem', code: textOf(first) ?? gap, value: second };
  if (!/(Error|Refused|Unavailable|ExtractionError)$/.test(name) || name === 'AggregateError') return null;
  return { kind: 'error', code: '', value: name === 'ProtocolError' ? second : first };
}

/** Finds the texts that a function returns which explains what is wrong. */
function placeOfFunction(node: SyntaxNode, file: string): MessagePlace | null {
  const name = nameOf(node.id) ?? '';
  const value = { type: 'CallExpression', callee: node.id, arguments: [] };
  if (/^describe\w*Error$/.test(name) && file.includes('/catalogue/')) return { kind: 'manifest', code: '', value };
  if (name === 'describeUnknownName') return { kind: 'setting', code: '', value };
  return name === 'warningOf' && file.includes('/ingestion/') ? { kind: 'report', code: '', value } : null;
}

function placeInBanner(node: SyntaxNode): MessagePlace | null {
  const quasis =
    node.type === 'TemplateLiteral' ? (node.quasis as Array<{ readonly value: { readonly cooked: string } }>) : [];
  const own = textOf(node) ?? quasis.map(({ value }) => value.cooked).join(gap);
  const isSentence = /\p{L}/u.test(own) && own.includes(' ');
  return isSentence ? { kind: 'banner', code: '', value: node } : null;
}

/** Finds the texts of calls whose function tells their kind. */
function placeOfNamedCall(name: string, args: readonly unknown[], file: string): MessagePlace | null {
  if (name === 'warn' && file.includes('/extraction/')) return { kind: 'report', code: '', value: args[0] };
  if (name === 'giveUp') return { kind: 'reason', code: '', value: args[0] };
  const isCheck = /^(ok|warning|failed)$/.test(name) && file.includes('/doctor/');
  return isCheck ? { kind: 'doctor', code: textOf(args[0]) ?? '', value: args[1] } : null;
}

const levels = /^(trace|debug|info|warn|error|fatal)$/;

function placeOfCall(node: SyntaxNode, file: string): MessagePlace | null {
  const args = node.arguments as unknown[];
  const name = nameOf(node.callee);
  if (name === 'rpcError') return { kind: 'problem', code: 'JSON-RPC', value: args[1] };
  if ((name === 'say' || name === 'printError') && file.startsWith('packages/cli/'))
    return { kind: 'output', code: '', value: args[0] };
  const named = placeOfNamedCall(name ?? '', args, file);
  if (named !== null) return named;
  if (!isNode(node.callee) || node.callee.type !== 'MemberExpression') return null;
  if (isLogCall(node)) {
    const level = nameOf(node.callee.property) ?? '';
    return { kind: 'log', code: level, event: eventOf(args[0]), value: args.at(-1) };
  }
  const method = nameOf(node.callee.property) ?? '';
  const owner = ownerName(node.callee.object);
  if (owner === 'console' || (/^std(out|err)$/.test(owner) && method === 'write')) {
    return { kind: file.startsWith('scripts/') ? 'setup' : 'output', code: '', value: args[0] };
  }
  if (method === 'add' && owner === 'errors' && file.includes('/catalogue/')) {
    return { kind: 'manifest', code: '', value: args[1] };
  }
  if (method === 'add' && owner === 'warnings') return { kind: 'report', code: '', value: args[0] };
  const isSettingError = owner === 'errors' && method === 'push' && /\/(config|settings)/.test(file);
  return isSettingError ? { kind: 'setting', code: '', value: args[0] } : null;
}

/** Returns whether the node is a call such as `logger.info(fields, message)`. */
export function isLogCall({ type, callee }: SyntaxNode): boolean {
  if (type !== 'CallExpression' || !isNode(callee) || callee.type !== 'MemberExpression') return false;
  return /^(log|logger|refusals)$/.test(ownerName(callee.object)) && levels.test(nameOf(callee.property) ?? '');
}

/** Returns `log` for `request.log.info`. */
function ownerName(node: unknown): string {
  if (!isNode(node)) return '';
  if (node.type === 'ChainExpression') return ownerName(node.expression);
  return nameOf(node) ?? nameOf(node.property) ?? '';
}

/** Returns the first text like `key_created` in the fields of a log line. */
function eventOf(fields: unknown): string {
  const text = textOf(fields);
  if (text !== null) return /^[a-z]+(_[a-z]+)+$/.test(text) ? text : '';
  const members = isNode(fields) || Array.isArray(fields) ? Object.values(fields) : [];
  return members.map(eventOf).find((event) => event !== '') ?? '';
}

function memberOf(node: SyntaxNode, name: string): unknown {
  const members = node.properties as SyntaxNode[];
  return members.find(({ key }) => nameOf(key) === name)?.value;
}

function textOf(node: unknown): string | null {
  return isNode(node) && node.type === 'Literal' && typeof node.value === 'string' ? node.value : null;
}

/** Replaces each parameter by the arguments of all calls. A parameter without a known argument becomes a gap. */
function completeText(message: Found, sources: readonly SourceFile[], depth: number): Found[] {
  const [mark] = message.text.matchAll(anyMark);
  if (mark === undefined) return [message];
  const [, owner = ''] = mark;
  const [file = '', name = ''] = owner.split('#');
  const isExported = sources.find((source) => source.file === file)?.functions.get(name)?.isExported === true;
  const isCaller = (source: SourceFile) =>
    source.file === file || (isExported && source.imports.get(name) === basename(file));
  const completed = (depth > 3 || message.kind === 'setting' ? [] : sources.filter(isCaller)).flatMap((source) =>
    (source.calls.get(name) ?? []).flatMap(({ node, functions }) =>
      substitute(message, owner, (index) =>
        evaluateArgument((node.arguments as unknown[])[index], { source, functions }),
      ).map((text) => ({ ...message, text, module: moduleOf(source.file) })),
    ),
  );
  const withGaps = message.text.replace(anyMark, gap);
  const isComputed = completed.some(({ text }) => text === withGaps);
  const changed = completed.filter(({ text }) => text !== withGaps && !(isComputed && hasOnlyNumbers(text, withGaps)));
  const next = changed.length > 0 ? changed : [{ ...message, text: withGaps }];
  return next.flatMap((one) => completeText(one, sources, depth + 1));
}

/** Returns whether a text has nothing but numbers where the other has gaps. */
function hasOnlyNumbers(text: string, withGaps: string): boolean {
  return text.replaceAll(/\d+/g, gap) === withGaps.replaceAll(/\d+/g, gap);
}

function substitute({ text }: Found, owner: string, argument: (index: number) => string[]): string[] {
  let texts = [text];
  for (const [whole, of, index] of text.matchAll(anyMark)) {
    const values = of === owner ? argument(Number(index)) : [gap];
    texts = texts.flatMap((one) => values.map((value) => one.replaceAll(whole, value))).slice(0, 12);
  }
  return texts;
}

/**
 * Returns `files` for `packages/server/src/files/upload/upload.ts`, and the name of the package for files outside the
 * server.
 */
function moduleOf(file: string): string {
  const [, name = '', , folder = ''] = file.split('/');
  return name === 'server' ? folder.replace(/\.ts$/, '') : name;
}

export function readSources(): SourceFile[] {
  return messageFiles().map((file) => readSource(file));
}
