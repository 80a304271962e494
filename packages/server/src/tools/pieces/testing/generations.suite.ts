import type { PieceAuthValue } from '../../execution/pieces/child/piece-task.ts';

/**
 * A piece for each generation of the framework, written without its code. What differs was read in the published packages
 * `@activepieces/framework` and `@activepieces/pieces-framework`.
 */
export interface Generation {
  /** The versions of the framework that have it. Versions between two generations are not published. */
  readonly versions: string;
  readonly source: string;
  readonly account: PieceAuthValue;
}

const text = `const text = (name, more) => ({ type: 'SHORT_TEXT', displayName: name, required: true, valueSchema: undefined, ...more });
const check = (isTrue, what) => { if (!isTrue) throw new Error('The context lacks ' + what); };
const send = async (key, body) => (await fetch('https://api.example.com/send', { method: 'POST', headers: { 'X-Key': key }, body })).json();`;

/** No authentication of the piece: each action has a property for it, with a name that the piece chooses. The actions are in `_actions`. */
const first = `${text}
class Piece {
  constructor(actions) { this.name = 'first'; this.displayName = 'First'; this.version = '0.1.0'; this.description = ''; this._actions = Object.fromEntries(actions.map((a) => [a.name, a])); }
  getAction(name) { return this._actions[name]; }
}
const api_key = { type: 'SECRET_TEXT', displayName: 'Key', required: true };
exports.first = new Piece([{
  name: 'send', displayName: 'Send', description: 'Send a text', sampleData: {},
  props: { api_key, body: text('Body') },
  async run({ propsValue, store, connections }) {
    check(store && connections, 'store');
    return await send(propsValue.api_key, propsValue.body);
  },
}]);`;

/** A function \`actions()\` besides. Fields are a kind of authentication, and files and times are inputs. Actions learn of their run. */
const second = `${text}
const authentication = { type: 'CUSTOM_AUTH', displayName: 'Account', required: true, props: { key: { type: 'SECRET_TEXT', displayName: 'Key', required: true } } };
const actions = { send: {
  name: 'send', displayName: 'Send', description: 'Send a text', sampleData: {},
  props: { authentication, body: text('Body'), at: { type: 'DATE_TIME', displayName: 'At', required: false }, file: { type: 'FILE', displayName: 'File', required: false } },
  async run({ propsValue, executionType, run }) {
    check(executionType === 'BEGIN' && typeof run.stop === 'function', 'run');
    return await send(propsValue.authentication.key, propsValue.body);
  },
} };
exports.second = { displayName: 'Second', logoUrl: '', description: '', _actions: actions, actions: () => actions, _triggers: {} };`;

/** The piece has the authentication, and \`auth\` of the context holds it: a text as it is, fields without a kind. */
const third = `${text}
exports.__esModule = true;
exports.third = {
  displayName: 'Third', logoUrl: 'https://cdn.example.com/third.png',
  auth: { type: 'SECRET_TEXT', displayName: 'Key', required: true },
  actions: () => ({ send: { name: 'send', displayName: 'Send', description: 'Send a text', requireAuth: true, props: { body: text('Body') },
    run: async ({ auth, propsValue, run }) => {
      check(run.id, 'run.id');
      return await send(auth, propsValue.body);
    } } }),
};`;

/** Descriptions as inputs, colours, own inputs, and lists with members. The context has files, tags, a project and outputs. */
const fourth = `${text}
exports.fourth = {
  displayName: 'Fourth', categories: ['SALES'],
  auth: { type: 'CUSTOM_AUTH', displayName: 'Account', required: true, props: {
    note: { type: 'MARKDOWN', description: 'Read this' }, key: { type: 'SECRET_TEXT', displayName: 'Key', required: true } } },
  actions: () => ({ send: { name: 'send', displayName: 'Send', description: 'Send a text', requireAuth: true,
    errorHandlingOptions: { retryOnFailure: { defaultValue: false } },
    props: { note: { type: 'MARKDOWN', displayName: 'Note', description: 'Read this' }, body: text('Body'),
      color: { type: 'COLOR', displayName: 'Color', required: false }, custom: { type: 'CUSTOM', displayName: 'Own', required: false, code: '' },
      rows: { type: 'ARRAY', displayName: 'Rows', required: false, properties: { cell: text('Cell') } } },
    run: async ({ auth, propsValue, files, tags, project, output }) => {
      await tags.add({ name: 'tea' });
      await output.update({ data: {} });
      check((await files.write({ fileName: 'a.txt', data: Buffer.from('a') })).startsWith('data:'), 'files');
      check(project.id && (await project.externalId()) === undefined, 'project');
      return await send(auth.key, propsValue.body);
    } } }),
};`;

/** A version of the context: each kind of authentication arrives with its name, and there may be several kinds. */
const versioned = (version: string) => `${text}
exports.default = {
  displayName: 'Versioned', auth: [
    { type: 'OAUTH2', displayName: 'Sign in', authUrl: 'https://example.com/authorize', tokenUrl: 'https://example.com/token', scope: ['send'], required: true },
    { type: 'SECRET_TEXT', displayName: 'Key', required: true },
    { type: 'OIDC', displayName: 'Other', required: true },
  ],
  getContextInfo: () => ({ version: '${version}' }),
  _actions: { send: { name: 'send', displayName: 'Send', description: 'Send', requireAuth: true, classification: 'WRITE', audience: 'both',
    aiMetadata: { description: 'Send a text to a person', idempotent: false },
    outputSchema: { fields: [{ key: 'ok', format: 'boolean', description: 'Whether it was sent' }] },
    props: { body: text('Body', { defaultValue: 'Hello' }) },
    run: async ({ auth, propsValue, step }) => {
      check(step.name, 'step');
      return await send(auth.type === 'SECRET_TEXT' ? auth.secret_text : auth.access_token, propsValue.body);
    } } },
};`;

const secretText: PieceAuthValue = { kind: 'SECRET_TEXT', fields: { token: 'k' } };
const customAuth: PieceAuthValue = { kind: 'CUSTOM_AUTH', fields: { key: 'k' } };
const oauth2: PieceAuthValue = { kind: 'OAUTH2', fields: { access_token: 'k' } };

export const generations: Readonly<Record<'first' | 'second' | 'third' | 'fourth' | 'fifth' | 'sixth', Generation>> = {
  first: { versions: '0.2.0 to 0.3.21', source: first, account: secretText },
  second: { versions: '0.3.25 to 0.3.30', source: second, account: customAuth },
  third: { versions: '0.4.0 to 0.6.7', source: third, account: secretText },
  fourth: { versions: '0.6.10 to 0.20.2', source: fourth, account: customAuth },
  // Several kinds of authentication.
  fifth: { versions: '0.25.4', source: versioned('1'), account: secretText },
  // Metadata for models and descriptions of outputs since 0.30.0, OIDC since 0.32.0.
  sixth: { versions: '0.27.2 to 0.32.0', source: versioned('2'), account: oauth2 },
};

/** A generation that does not exist yet. */
export const futureGeneration = versioned('9');
