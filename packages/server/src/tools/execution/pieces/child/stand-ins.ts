/** Modules of Node.js that a piece may load but not use, and why. The others get the general reason. */
const reasons: Readonly<Record<string, string>> = {
  child_process: 'starts programs',
  cluster: 'starts processes',
  dgram: 'opens sockets',
  dns: 'looks up host names',
  'dns/promises': 'looks up host names',
  fs: 'uses files',
  'fs/promises': 'uses files',
  http2: 'opens sockets',
  net: 'opens sockets',
  tls: 'opens sockets',
  vm: 'compiles code at run time',
  worker_threads: 'starts threads',
};

/**
 * Creates a value that code can import, destructure and extend, and that fails when it is called. Every member is such a value too,
 * except for the given ones.
 * @param name the module and the member, for the error
 */
export function standIn(name: string, members: Readonly<Record<string, unknown>> = {}): unknown {
  const [module = name] = name.split('.');
  const refusal = (): Error => {
    const what = reasons[module] ?? 'uses a part of Node.js that pieces cannot use';
    const message = `This piece ${what} (${name}), which Quartermaster does not allow.`;
    return Object.assign(new Error(message), { code: 'ERR_ACCESS_DENIED' });
  };
  const refuse = (): never => {
    throw refusal();
  };
  // Clients that look for an optional file handle only a promise that rejects.
  const isAsync = /[./]promises\./.test(name);
  const target = Object.assign(function refused() {}, members);
  return new Proxy(target, {
    get: (_, key) => {
      if (Object.hasOwn(target, key)) return Reflect.get(target, key);
      // A promise, a primitive or an ES module is recognised by these, so a stand-in has none of them.
      if (typeof key === 'symbol' || key === 'then' || key === '__esModule') return undefined;
      const member = key === 'constants' ? {} : standIn(`${name}.${key}`);
      Reflect.set(target, key, member);
      return member;
    },
    apply: () => (isAsync ? Promise.reject(refusal()) : refuse()),
    construct: refuse,
  });
}

/** The same with a member for each name, because some bundlers copy the members of a module instead of asking for them. */
export function standInLike(name: string, names: readonly string[], members: Readonly<Record<string, unknown>> = {}) {
  const refused = names.map((member) => [member, standIn(`${name}.${member}`)] as const);
  return standIn(name, { ...Object.fromEntries(refused), ...members });
}
