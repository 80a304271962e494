import { createRequire } from 'node:module';

type Members = Readonly<Record<string, unknown>>;

/** The parts of a piece that are used. All of them are untrusted. */
export interface LoadedPiece {
  readonly piece: Members;
  readonly actions: ReadonlyMap<string, Members>;
  /** How the framework of the piece expects values: undefined before versions of the context existed. */
  readonly contextVersion: string | undefined;
}

const knownVersions: readonly unknown[] = [undefined, '1', '2'];

/** Loads the file of a piece. @param file its `file:` URL */
export function loadPiece(file: string): LoadedPiece {
  const exported: unknown = createRequire(file)(new URL(file).pathname);
  const piece = [exported, ...Object.values(Object(exported))].find(isPiece);
  if (piece === undefined) {
    const names = Object.keys(Object(exported)).slice(0, 10).join(', ') || 'nothing';
    throw new Error(`The file exports no piece with actions. It exports ${names}.`);
  }
  const { getContextInfo } = piece;
  const info: unknown = typeof getContextInfo === 'function' ? getContextInfo.call(piece) : undefined;
  const version = membersOf(info).version;
  if (!knownVersions.includes(version)) {
    const message = `The piece expects version ${String(version)} of the context of its framework. Known versions: 1, 2.`;
    throw new Error(message);
  }
  return { piece, actions: actionsOf(piece), contextVersion: version as string | undefined };
}

/** Frameworks keep the actions in `_actions`, in a function `actions()`, or in an object or a list `actions`. */
function actionsOf(piece: Members): ReadonlyMap<string, Members> {
  const { _actions: kept, actions: declared } = piece;
  const found: unknown = kept ?? (typeof declared === 'function' ? declared.call(piece) : declared);
  const actions = Object.values(Object(found)).map(membersOf);
  const unusable = actions.find(({ name, run }) => typeof name !== 'string' || typeof run !== 'function');
  if (unusable !== undefined) throw new Error(`The action ${String(unusable.name)} has no name or no function "run".`);
  return new Map(actions.map((action) => [String(action.name), action]));
}

function isPiece(value: unknown): value is Members {
  if (typeof value !== 'object' || value === null) return false;
  const hasActions = '_actions' in value || 'actions' in value;
  return hasActions && 'displayName' in value;
}

export function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {};
}
